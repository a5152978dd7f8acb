"""The address of an endpoint: what of it may be shown, and what of all that belongs to it is a secret."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from judgekit.errors import InputError
from judgekit.judge import faults


def public_url(base_url: str) -> str:
    """The URL as it may be shown and recorded: without user, password, query and trailing slash."""
    try:
        address = urlsplit(base_url)
        is_usable = address.scheme in {"http", "https"} and address.hostname and address.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or not base_url.isprintable() or " " in base_url:
        found = re.sub(r"//.*@|\?.*", "***", base_url)  # a password may hold a slash
        raise InputError(f"the base URL must look like https://host/v1, not {faults.shown(found)!r}")
    return address._replace(netloc=address.netloc.rpartition("@")[2], query="", fragment="").geturl().rstrip("/")


def secrets_of(base_url: str, key: str | None, headers: Mapping[str, str]) -> frozenset[str]:
    """What must never be shown. Raises InputError for a key or a header that cannot be sent."""
    for name, value in {"API key": key or "", **headers}.items():
        if not (value.isascii() and value.isprintable()):
            raise InputError(f"the {name} holds a line break or another character that no HTTP header can carry")
    address = urlsplit(base_url)
    user = f"{unquote(address.username or '')}:{unquote(address.password or '')}"
    basic = base64.b64encode(user.encode()).decode() if "@" in address.netloc else None
    found = {
        key,
        address.password,
        basic,
        *headers.values(),
        *(part.partition("=")[2] for part in address.query.split("&")),
    }
    # shorter ones ("1", "yes") are no secrets, and masking them would spoil every message
    return frozenset(value for value in found if value and (len(value) > 3 or value == key))  # noqa: PLR2004
