"""The Batch API of an endpoint: files up, batches created and watched, results down."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from judgekit.errors import JudgeError, JudgeUnusable, RequestRefused, ServerFailed
from judgekit.judge import envelope
from judgekit.judge.batchfile import LARGEST_RESULTS, PREFIX
from judgekit.judge.endpoint import Endpoint

#: Statuses in which nothing more will come.
OVER: Final = frozenset({"completed", "failed", "expired", "cancelled"})
WINDOW: Final = "24h"
#: HTTP statuses of a server that knows no such path.
_NOT_THERE: Final = frozenset({404, 405, 501})
_ID: Final = re.compile(r"[\w.:-]{1,200}")
_SHOWN_ERRORS: Final = 3


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A batch as its endpoint describes it."""

    id: str
    status: str
    total: int = 0
    completed: int = 0
    failed: int = 0
    results: tuple[str, ...] = ()
    codes: frozenset[str] = frozenset()
    reason: str = ""

    @property
    def is_over(self) -> bool:
        return self.status in OVER


class Batches:
    """The batches of one endpoint. All methods raise as `Endpoint.post` does."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def upload(self, file: Path) -> str:
        """Send a file of requests; its id. Raises JudgeUnusable where the endpoint has no Batch API."""
        try:
            said = await self._endpoint.upload(file, "batch")
        except (JudgeUnusable, RequestRefused) as error:
            raise self._no_batches(error, "files") from None
        return _id(said, "file")

    async def create(self, file_id: str, path: str) -> Batch:
        """A batch of an uploaded file's requests, all for the same path. It is created once: where no answer says
        whether it was, the endpoint's list of batches does."""
        body = {"input_file_id": file_id, "endpoint": PREFIX + path, "completion_window": WINDOW}
        try:
            return self._read(await self._endpoint.post("batches", body, attempts=1))
        except RequestRefused as error:
            raise self._no_batches(error, "batches") from None
        except JudgeUnusable as error:
            raise self._no_batches(error, "batches") from None
        except JudgeError:
            if (there := await self.find(file_id)) is not None:
                return there
            raise

    async def find(self, file_id: str) -> Batch | None:
        """The batch of an uploaded file, among the latest hundred; None where there is none, or no such list."""
        try:
            said = await self._endpoint.get("batches?limit=100")
        except (JudgeUnusable, RequestRefused):
            return None
        data = said.get("data")
        listed = [one for one in data if isinstance(one, dict)] if isinstance(data, list) else []
        return next((self._read(one) for one in listed if one.get("input_file_id") == file_id), None)

    async def get(self, batch_id: str) -> Batch:
        return self._read(await self._endpoint.get(f"batches/{batch_id}"))

    async def cancel(self, batch_id: str) -> Batch:
        return self._read(await self._endpoint.post(f"batches/{batch_id}/cancel", {}))

    async def fetch(self, file_id: str, into: Path) -> None:
        """The content of a file of results."""
        await self._endpoint.download(file_id, into, most=LARGEST_RESULTS)

    def _read(self, said: Mapping[str, Any]) -> Batch:
        counts = said.get("request_counts")
        counts = counts if isinstance(counts, dict) else {}
        errors = said.get("errors")
        listed = errors.get("data") if isinstance(errors, dict) else errors
        told = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        status = said.get("status")
        files = (said.get("output_file_id"), said.get("error_file_id"))
        return Batch(
            id=_id(said, "batch"),
            status=status if isinstance(status, str) else "unknown",
            results=tuple(name for name in files if isinstance(name, str) and _ID.fullmatch(name)),
            codes=frozenset(str(one.get("code")) for one in told),
            reason=self._endpoint.shown("; ".join(map(_words, told[:_SHOWN_ERRORS]))),
            **{name: envelope.count(counts.get(name)) for name in ("total", "completed", "failed")},
        )

    def _no_batches(self, error: JudgeUnusable | RequestRefused, path: str) -> JudgeUnusable:
        if error.status in _NOT_THERE:
            return JudgeUnusable(
                f"{self._endpoint.public_url} has no Batch API (POST /{path} answered HTTP {error.status}); leave out "
                "--batch, or export the requests for another way: judgekit batch export"
            )
        return error if isinstance(error, JudgeUnusable) else JudgeUnusable(str(error), status=error.status)


def _id(said: Mapping[str, Any], what: str) -> str:
    """The id of what was made, fit to stand in a path. Raises ServerFailed for anything else."""
    found = said.get("id")
    if not isinstance(found, str) or not _ID.fullmatch(found) or set(found) <= {"."}:
        raise ServerFailed(f"the endpoint named no {what} that could be asked for: {str(found)[:80]!r}")
    return found


def _words(error: Mapping[str, Any]) -> str:
    line = f"line {error['line']}: " if isinstance(error.get("line"), int) else ""
    return line + " ".join(word for word in (error.get("code"), error.get("message")) if isinstance(word, str))
