"""A run in numbers as one JSON object, for `--json`."""

from __future__ import annotations

from pydantic import JsonValue

from judgekit.records import Manifest, MetricPin, MetricSummary, Summary


def as_json(summary: Summary, manifest: Manifest) -> dict[str, JsonValue]:
    """The summary with what it rests on; metrics are keyed by name, each with its counts and its pin.

    The same run gives the same object: times and paid calls of single sessions stay in the manifest.
    """
    dumped = summary.model_dump(mode="json", exclude={"metrics"})
    return {
        "judgekit": manifest.judgekit,
        "judge": dict(manifest.judge),
        "logs": [log.model_dump(mode="json") for log in manifest.logs],
        "skipped_rows": list(manifest.skipped_rows),
        "options": manifest.options.model_dump(mode="json"),
        "metrics": {found.metric: _metric(found, manifest.metrics.get(found.metric)) for found in summary.metrics},
        **dumped,
    }


def _metric(found: MetricSummary, pin: MetricPin | None) -> dict[str, JsonValue]:
    """A metric's numbers; `unjudged` stands apart from what is undefined by nature."""
    dumped = found.model_dump(mode="json", exclude={"metric", "undefined"})
    undefined: dict[str, JsonValue] = {reason: n for reason, n in found.undefined.items() if reason != "unjudged"}
    pinned = pin.model_dump(mode="json") if pin else {}
    return {**pinned, **dumped, "undefined": undefined, "unjudged": found.undefined.get("unjudged", 0)}
