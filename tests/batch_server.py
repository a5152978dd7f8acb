"""A Batch API for tests: /v1/files and /v1/batches in front of a judge that answers single requests.

    api = BatchServer(over_http(Truth()))
    with Server(api) as server:                # misbehaving.Server: real sockets
        ...                                    # talk to server.url
    api.batches, api.uploads, api.live         # what was created, uploaded, asked live

A batch goes one step further each time it is looked at. `ends` says in which status a batch (by number, from 1) ends,
`errors` why it failed, `spoil(number, line)` changes a result line, gives several, or None where nothing was executed.
"""

from __future__ import annotations

import email
import email.policy
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from misbehaving import Handler, Reply, Request, answer, error

Line = dict[str, Any]
Spoil = Callable[[int, Line], Line | list[Line] | None]


def _as_it_is(_number: int, line: Line) -> Line:
    return line


@dataclass
class BatchServer:
    judge: Handler
    steps: Sequence[str] = ()
    ends: Mapping[int, str] = field(default_factory=dict)
    errors: Mapping[int, list[dict[str, Any]]] = field(default_factory=dict)
    spoil: Spoil = _as_it_is
    files: dict[str, bytes] = field(default_factory=dict)
    uploads: list[dict[str, Any]] = field(default_factory=list)
    batches: list[dict[str, Any]] = field(default_factory=list)
    live: list[Request] = field(default_factory=list)
    looks: dict[str, int] = field(default_factory=dict)
    refuses: Callable[[Request], Reply | None] = lambda _request: None

    def __call__(self, request: Request) -> Reply:  # noqa: PLR0911 - one kind of request, one answer
        refused = self.refuses(request)
        if refused is not None:
            return refused
        path = request.path.removeprefix("/v1").partition("?")[0]
        if path == "/files":
            return self._upload(request)
        if path == "/batches" and request.method == "GET":
            return answer({"object": "list", "data": self.batches[::-1], "has_more": False})
        if path == "/batches":
            return self._create(request.body)
        if found := re.fullmatch(r"/files/([\w-]+)/content", path):
            kept = self.files.get(found[1])
            return error(404, "no such file") if kept is None else Reply(200, kept, {"content-type": "text/plain"})
        if found := re.fullmatch(r"/batches/([\w-]+)(/cancel)?", path):
            batch = next((one for one in self.batches if one["id"] == found[1]), None)
            if batch is None:
                return error(404, f"No batch found with id '{found[1]}'")
            return self._cancel(batch) if found[2] else self._look(batch)
        self.live.append(request)
        return self.judge(request)

    def lines_of(self, number: int) -> list[Line]:
        """The requests of a batch, by its number from 1."""
        return [json.loads(line) for line in self.files[self.batches[number - 1]["input_file_id"]].splitlines()]

    def _keep(self, content: bytes) -> str:
        name = f"file-{len(self.files) + 1}"
        self.files[name] = content
        return name

    def _upload(self, request: Request) -> Reply:
        head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
        form = email.message_from_bytes(head + request.raw, policy=email.policy.HTTP)
        parts = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}  # type: ignore[attr-defined]
        content = parts["file"].get_payload(decode=True)
        name = self._keep(content)
        kept = {
            "id": name,
            "object": "file",
            "bytes": len(content),
            "filename": parts["file"].get_filename(),
            "purpose": parts["purpose"].get_payload(),
        }
        self.uploads.append(kept)
        return answer(kept)

    def _create(self, body: Mapping[str, Any]) -> Reply:
        if body["input_file_id"] not in self.files or body["completion_window"] != "24h":
            return error(400, "Invalid value", param="input_file_id")
        batch = {
            "id": f"batch_{len(self.batches) + 1}",
            "object": "batch",
            "endpoint": body["endpoint"],
            "errors": None,
            "input_file_id": body["input_file_id"],
            "completion_window": "24h",
            "status": "validating",
            "output_file_id": None,
            "error_file_id": None,
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
        }
        self.batches.append(batch)
        return answer(batch)

    def _look(self, batch: dict[str, Any]) -> Reply:
        number = self.batches.index(batch) + 1
        steps = () if number in self.errors else self.steps  # it fails while it is validated
        walk = [*steps, self.ends.get(number, "completed")]
        looks = self.looks[batch["id"]] = self.looks.get(batch["id"], 0) + 1
        if looks <= len(walk) and batch["status"] != "cancelled":
            batch["status"] = walk[looks - 1]
            if looks == len(walk):
                self._end(batch)
        return answer(batch)

    def _cancel(self, batch: dict[str, Any]) -> Reply:
        batch["status"] = "cancelled"
        return answer({**batch, "status": "cancelling"})

    def _end(self, batch: dict[str, Any]) -> None:
        number = self.batches.index(batch) + 1
        faults = self.errors.get(number) or self._faults(number, batch["endpoint"])
        if faults:
            batch |= {"status": "failed", "errors": {"object": "list", "data": faults}}
            return
        good: list[Line] = []
        bad: list[Line] = []
        for line in self.lines_of(number):
            for made in self._executed(number, line):
                response = made.get("response")
                (good if response and response.get("status_code") == 200 else bad).append(made)
        counts = {"total": len(good) + len(bad), "completed": len(good), "failed": len(bad)}
        batch |= {"request_counts": counts}
        for name, lines in (("output_file_id", good), ("error_file_id", bad)):
            if lines:
                batch[name] = self._keep(
                    b"".join(line.get("raw") or json.dumps(line).encode() + b"\n" for line in lines)
                )

    def _executed(self, number: int, line: Line) -> list[Line]:
        asked = Request("POST", line["url"], {}, json.dumps(line["body"]).encode(), 0.0, 0, line["body"])
        reply = self.judge(asked)
        response = {"status_code": reply.status, "request_id": "req_1", "body": json.loads(reply.body)}
        result = {"id": "batch_req_1", "custom_id": line["custom_id"], "response": response, "error": None}
        made = self.spoil(number, result)
        if made is None:
            why = {"code": "batch_expired", "message": "This request could not be executed in time."}
            made = {**result, "response": None, "error": why}
        return made if isinstance(made, list) else [made]

    def _faults(self, number: int, path: str) -> list[dict[str, Any]]:
        lines = self.lines_of(number)
        ids = [line["custom_id"] for line in lines]
        if len(set(ids)) < len(ids):
            return [{"code": "duplicate_custom_id", "message": "Ids must be unique.", "line": 1, "param": "custom_id"}]
        if any(line["url"] != path or line["method"] != "POST" for line in lines):
            return [{"code": "mismatched_url", "message": "The url does not match.", "line": 1, "param": "url"}]
        return []


def with_body(line: Line, **changes: Any) -> Line:
    """A result line with another response body, or `status_code`."""
    status = changes.pop("status_code", line["response"]["status_code"])
    body = {**line["response"]["body"], **changes}
    return {**line, "response": {**line["response"], "status_code": status, "body": body}}


def instead(line: Line, reply: Reply) -> Line:
    """A result line that holds another reply."""
    return {**line, "response": {**line["response"], "status_code": reply.status, "body": json.loads(reply.body)}}
