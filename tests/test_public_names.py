"""The public surface: complete, and each name where it is said to be."""

from __future__ import annotations

import judgekit


def test_every_public_name_can_be_had() -> None:
    assert all(getattr(judgekit, name) is not None for name in judgekit.__all__)


def test_every_public_name_has_one_home() -> None:
    homes = [name for names in judgekit._HOMES.values() for name in names]
    assert sorted(homes) == sorted(judgekit.__all__)
    assert set(judgekit.__all__) <= set(dir(judgekit))
