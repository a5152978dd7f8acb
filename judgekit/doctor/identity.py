"""Does the name that an endpoint answers under say which model answered? Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from judgekit.doctor.findings import Probes
from judgekit.judge.local import SCHEME as LOCAL
from judgekit.judge.naming import names_snapshot


class Identity(NamedTuple):
    """Whether a name can be held to, and why."""

    is_verifiable: bool
    why: str


def verifiable(requested: str, named: Mapping[str, int], probes: Probes, *, base_url: str = "") -> Identity:
    """Whether the names in the replies say which model answered. `named` counts them; "" is a reply without one."""
    if base_url == LOCAL:
        return Identity(is_verifiable=True, why="it is served from its file, whose hash is in its name")
    names = sorted(name for name in named if name)
    name = names[0] if names else ""
    echo = "an echo of the alias asked for" if name == requested else "an alias"
    doubts = (
        (not named, "it was asked nothing"),
        (not names, "the replies name no model"),
        (len(names) > 1, f"the replies name several models: {', '.join(names)}"),
        (probes.nonsense == "echoed", "the replies echo whatever name is asked for"),
        (not names_snapshot(name), f"{name} is {echo}, without a date or revision: it may change unseen"),
        (probes.nonsense == "answered", "it answers under this name whatever model is asked for"),
    )
    why = next((why for holds, why in doubts if holds), None)
    return Identity(is_verifiable=why is None, why=why or f"{name} names a snapshot")
