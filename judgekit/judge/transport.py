"""The HTTP client behind an endpoint: the openai SDK's client, sending what it is told and nothing else.

Importing this module imports the SDK (half a second), so only the function that opens a client does it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from urllib.parse import parse_qsl, urlsplit
from urllib.request import getproxies

import httpx2
import openai
from openai import AsyncOpenAI, Omit, RequestOptions

from judgekit.errors import ConnectionFailed, JudgeUnusable
from judgekit.judge.faults import NotConnected
from judgekit.judge.transfer import PIECE, Download, Received, Upload

if TYPE_CHECKING:
    from judgekit.judge.lean import Lean

#: What carries the requests of a run; "auto": aiohttp where it is installed and no proxy stands between.
Carrier: TypeAlias = Literal["auto", "aiohttp", "httpx2"]

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
# a pool looks at all of its connections twice a call: many small pools cost less than a large one
CLIENT_CONNECTIONS: Final = 8


class QuietClient(AsyncOpenAI):
    """The SDK's client without what it would add on its own: headers about this machine, and anything that it
    reads from `OPENAI_*` variables, which may belong to another provider than the one asked here.

    `http` is the HTTP client under it. What a run asks by the thousand goes there directly, or to `lean` where there
    is one: the SDK's way to it costs as much again as the sending.
    """

    http: httpx2.AsyncClient
    lean: Lean | None
    sent_headers: Mapping[str, str]
    _addresses: dict[str, httpx2.URL]

    @cached_property
    def plain_headers(self) -> list[tuple[str, str]]:
        """What goes with every request, as it is sent."""
        token = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        named = {name.lower(): (name, str(value)) for name, value in {**token, **self.default_headers}.items()}
        return [*named.values(), ("Accept-Encoding", "gzip, deflate"), ("Connection", "keep-alive")]

    def address(self, path: str) -> httpx2.URL:
        """The URL of a path below the base URL, with its query."""
        if path not in self._addresses:
            below = httpx2.URL(f"{str(self.base_url).rstrip('/')}/{path}")
            query = {name: str(value) for name, value in self.default_query.items()}
            self._addresses[path] = below.copy_merge_params(query) if query else below
        return self._addresses[path]

    async def close(self) -> None:
        if self.lean is not None:
            await self.lean.close()
        await super().close()

    @property
    def default_headers(self) -> dict[str, str | Omit]:
        return {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": f"judgekit (openai {openai.__version__})",
            **self.sent_headers,
        }


def open_clients(
    url: str, *, api_key: str | None, headers: Mapping[str, str], connections: int, carrier: Carrier = "auto"
) -> list[QuietClient]:
    """A client for each of so many connections in the running event loop; `CLIENT_CONNECTIONS` share one.

    They never retry, follow no redirect and have no time limits: the caller bounds the whole exchange, which a limit
    per read cannot do.
    """
    address = urlsplit(url)
    is_local = address.hostname in LOOPBACK
    # plain HTTP reads no certificates (20 ms); all clients of one endpoint share them
    context = httpx2.create_ssl_context() if address.scheme == "https" else False
    lean = None
    if _is_carried_by_aiohttp(carrier, is_local=is_local):
        from judgekit.judge.lean import Lean  # noqa: PLC0415 - aiohttp is an extra

        lean = Lean(connections, context)
    clients = []
    for _ in range(-(-connections // CLIENT_CONNECTIONS)):
        http = httpx2.AsyncClient(
            verify=context,
            timeout=None,
            limits=httpx2.Limits(max_connections=CLIENT_CONNECTIONS, max_keepalive_connections=CLIENT_CONNECTIONS),
            # a redirect would carry the headers, and so perhaps a key, to another host
            follow_redirects=False,
            # no proxy reaches this machine's loopback
            trust_env=not is_local,
        )
        client = QuietClient(
            # "" and not None: the SDK fills every None from the environment
            api_key=api_key or "",
            admin_api_key="",
            organization="",
            project="",
            webhook_secret="",
            base_url=address._replace(query="", fragment="").geturl(),
            default_query=dict(parse_qsl(address.query, keep_blank_values=True)),
            max_retries=0,
            timeout=None,
            http_client=http,
        )
        client.http, client._addresses = http, {}  # noqa: SLF001 - the SDK's own __init__ is left alone
        client.lean, client.sent_headers = lean, headers
        clients.append(client)
    return [clients[number // CLIENT_CONNECTIONS] for number in range(connections)]


def _is_carried_by_aiohttp(carrier: Carrier, *, is_local: bool) -> bool:
    if carrier == "auto":  # httpx2 speaks to every kind of proxy
        return find_spec("aiohttp") is not None and (is_local or not getproxies())
    return carrier == "aiohttp"


async def exchange(client: QuietClient, path: str, content: bytes | Upload | None) -> Received:
    """POST `content`, or GET where it is None, and read the whole response, whatever its status.

    Raises `NotConnected` where nothing was sent and `ConnectionFailed` where the connection broke; their message
    is the reason alone.
    """
    try:
        if content is None:
            options = RequestOptions(headers=_quiet(client))
            response = await client.get(path, cast_to=httpx2.Response, options=options)
        elif isinstance(content, Upload):
            response = await _uploaded(client, path, content)
        elif client.lean is not None:
            return await client.lean.post(client.address(path), client.plain_headers, content)
        else:
            request = httpx2.Request("POST", client.address(path), headers=client.plain_headers, content=content)
            response = await client.http.send(request)
    except httpx2.HTTPError as error:
        raise _broken(error) from None
    except openai.APIStatusError as error:
        response = error.response
    except openai.APIConnectionError as error:
        # `from None`: the cause may quote a header, and with it the key
        raise _broken(error.__cause__) from None
    return Received(response.status_code, response.headers, response.content)


async def _uploaded(client: QuietClient, path: str, upload: Upload) -> httpx2.Response:
    options = RequestOptions(headers={**_quiet(client), "Content-Type": "multipart/form-data"})
    with upload.file.open("rb") as file:
        return await client.post(
            path,
            cast_to=httpx2.Response,
            body={"purpose": upload.purpose},
            files={"file": (upload.file.name, file, "application/jsonl")},
            options=options,
        )


async def fetch(client: QuietClient, to: Download, came: Callable[[int], None]) -> Received:
    """GET the content of a stored file into a file here; `came` hears the size of each piece. Without its content.

    Raises as `exchange`, and JudgeUnusable for a file that is larger than allowed.
    """
    files = client.files.with_streaming_response
    try:
        async with files.content(to.file_id, extra_headers=_quiet(client)) as response:
            size = 0
            with to.into.open("wb") as file:
                async for piece in response.iter_bytes(PIECE):
                    size += len(piece)
                    if size > to.most:
                        raise JudgeUnusable(f"the file {to.file_id!r} is larger than {to.most} bytes; it is not read")
                    file.write(piece)
                    came(len(piece))
            return Received(response.status_code, response.headers, b"")
    except openai.APIStatusError as error:
        return Received(error.status_code, error.response.headers, error.response.content)
    except openai.APIConnectionError as error:
        raise _broken(error.__cause__) from None
    except httpx2.HTTPError as error:
        raise _broken(error) from None


def _quiet(client: QuietClient) -> dict[str, str | Omit]:
    quiet: dict[str, str | Omit] = {"x-stainless-retry-count": Omit(), "x-stainless-read-timeout": Omit()}
    if not client.api_key and not any(name.lower() == "authorization" for name in client.sent_headers):
        quiet["Authorization"] = Omit()
    return quiet


def _broken(cause: BaseException | None) -> ConnectionFailed:
    kind = NotConnected if isinstance(cause, httpx2.ConnectError) else ConnectionFailed
    return kind(f"{type(cause).__name__}: {cause}")
