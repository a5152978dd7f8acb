"""What a run posts by the thousand, carried by aiohttp where that is installed: the same requests and the same errors
as through httpx2, for a fraction of the CPU. Importing this module imports aiohttp.
"""

from __future__ import annotations

import base64
import ssl
from collections.abc import Iterable

import httpx2
from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientResponseError,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
    ThreadedResolver,
)
from yarl import URL

from judgekit.errors import ConnectionFailed
from judgekit.judge.faults import NotConnected
from judgekit.judge.transfer import Received

#: Seconds that an idle connection is kept, and the longest header that is read: as httpx2 has them.
_IDLE, _LONGEST_HEADER = 5.0, 1 << 16


class Lean:
    """One session of the running event loop, with at most so many connections. It follows no redirect, keeps no
    cookie, asks no environment and has no time limit: the caller bounds the whole exchange."""

    def __init__(self, connections: int, context: ssl.SSLContext | bool) -> None:
        self._session = ClientSession(
            connector=TCPConnector(
                limit=connections,
                ssl=context,
                keepalive_timeout=_IDLE,
                resolver=ThreadedResolver(),
            ),
            cookie_jar=DummyCookieJar(),
            timeout=ClientTimeout(total=None, sock_connect=None),
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )

    async def post(self, address: httpx2.URL, headers: Iterable[tuple[str, str]], content: bytes) -> Received:
        """POST and read the whole response, whatever its status.

        Raises `NotConnected` where nothing was sent and `ConnectionFailed` where the connection broke; their message
        is the reason alone.
        """
        where, headers = _without_user(address, headers)
        try:
            async with self._session.post(where, headers=headers, data=content, allow_redirects=False) as response:
                return Received(response.status, response.headers, await response.read())
        except ClientConnectorError as error:
            raise NotConnected(f"{type(error).__name__}: {error}") from None
        except ClientResponseError as error:  # as a text it would show the whole URL
            raise ConnectionFailed(f"{type(error).__name__}: {error.message}") from None
        except (ClientError, OSError) as error:
            raise ConnectionFailed(f"{type(error).__name__}: {error}") from None

    async def close(self) -> None:
        await self._session.close()


def _without_user(address: httpx2.URL, headers: Iterable[tuple[str, str]]) -> tuple[URL, list[tuple[str, str]]]:
    """The URL as aiohttp takes it, exactly as it is, and the headers; a user in the URL goes into a header, in place
    of any other authorization."""
    if not address.userinfo:
        return URL(str(address), encoded=True), list(headers)
    basic = base64.b64encode(f"{address.username}:{address.password}".encode()).decode()
    others = [(name, value) for name, value in headers if name.lower() != "authorization"]
    return URL(str(address.copy_with(userinfo=b"")), encoded=True), [*others, ("Authorization", f"Basic {basic}")]
