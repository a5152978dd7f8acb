"""Names of models: which say what weights answer, and which may come to mean others."""

from __future__ import annotations

import pytest

from judgekit.judge.naming import is_snapshot_of, names_snapshot

SNAPSHOTS = [
    "gpt-4.1-mini-2025-04-14",
    "gpt-4-0613",
    "gpt-3.5-turbo-0125",
    "claude-sonnet-4-20250514",
    "anthropic.claude-3-5-sonnet-20241022-v2:0",
    "claude-3-5-sonnet@20240620",
    "gemini-1.5-pro-002",
    "jev-1.13.0",
    "mistral-small:sha256:0123456789abcdef",
    "model.gguf@sha256:" + "0f" * 32,
    "org/model-2026.03.01",
]
ALIASES = [
    "gpt-4.1-mini",
    "gpt-5.2",
    "claude-sonnet-4-0",
    "qwen2.5:7b-instruct-q4_K_M",
    "Qwen/Qwen2.5-1.5B-Instruct",
    "jev-latest",
    "gpt-4.1-2025-04-14-latest",
    "gemini-2.5-pro-preview",
    "model-1234567",
    "model-2025-13-01",
    "model-9999",
    "",
]


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_a_date_a_revision_a_version_or_a_digest_names_a_snapshot(name: str) -> None:
    assert names_snapshot(name)


@pytest.mark.parametrize("name", ALIASES)
def test_anything_else_is_an_alias(name: str) -> None:
    assert not names_snapshot(name)


def test_a_snapshot_of_an_alias_goes_on_where_the_alias_ends() -> None:
    assert is_snapshot_of("gpt-4.1-mini-2025-04-14", "gpt-4.1-mini")
    assert is_snapshot_of("m@2026", "m")
    assert not is_snapshot_of("gpt-4.1-mini", "gpt-4.1-mini")
    assert not is_snapshot_of("gpt-4.10", "gpt-4.1")
    assert not is_snapshot_of("other-2025-04-14", "gpt-4.1-mini")
