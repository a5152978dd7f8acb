"""The pin of every metric: who answers, and everything beside the verdicts that its numbers rest on.

Two runs may be compared in a metric only under equal pins. A pin depends on what this metric uses and on nothing else,
so computing one more metric, or rewording a prompt that a metric does not use, changes no other pin.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pydantic import JsonValue

from judgekit.judge.decisions import FORM as DECISIONS
from judgekit.judge.decisions_asked import TEMPLATE as DECIDE
from judgekit.judge.layout import READOUT, TEMPLATE, VERSION
from judgekit.metrics import Metric
from judgekit.prompts import Prompts
from judgekit.records import MetricPin, Need, Options
from judgekit.tasks import asks, bearing, entities, refusal, reverse, rubric, split, sufficiency, verify
from judgekit.wire import JudgeSpec, digest

#: The part of a judge that embeds texts.
EMBEDDER = "embedder"
#: How texts are segmented and claims are traced; raised when that changes what is asked.
SPLITTER = 1

_TEMPLATES: dict[Need, tuple[str, ...]] = {
    Need.ANSWER_CLAIMS: split.TEMPLATES,
    Need.REFERENCE_CLAIMS: split.TEMPLATES,
    Need.RELEVANCE: ("relevance",),
    Need.RELEVANCE_BY_ANSWER: ("relevance_by_answer",),
    Need.BEARING: (*asks.TEMPLATES, *bearing.TEMPLATES),
    Need.REFUSAL: refusal.TEMPLATES,
    Need.SUFFICIENCY: sufficiency.TEMPLATES,
    Need.ENTITIES: entities.TEMPLATES,
    Need.RUBRIC: rubric.TEMPLATES,
    Need.REVERSE_QUESTIONS: reverse.TEMPLATES,
}

#: Form of a part of the judge -> the template by which questions are laid out for it; the chat model's for all else.
_LAYOUTS = {READOUT: READOUT, DECISIONS: DECIDE}


def templates_of(prompts: Prompts) -> dict[str, str]:
    """Template -> fingerprint, for every template that a pin can rest on."""
    names = {TEMPLATE, READOUT, DECIDE, *verify.TEMPLATES, *(name for names in _TEMPLATES.values() for name in names)}
    return {name: prompts.fingerprint(name) for name in sorted(names)}


def pins_of(
    metrics: Sequence[Metric],
    options: Options,
    *,
    specs: Mapping[str, JudgeSpec],
    dialects: Mapping[str, Mapping[str, JsonValue]],
    templates: Mapping[str, str],
) -> dict[str, MetricPin]:
    """Metric name -> its pin. `specs` and `dialects` by part of the judge, `templates` as from `templates_of`."""
    judge: dict[str, list[JsonValue]] = {
        part: [spec.judge_id, dialects.get(part, {}).get("format"), *([spec.settings] if spec.settings else [])]
        for part, spec in specs.items()
    }
    laid_out = {_LAYOUTS.get(spec.form, TEMPLATE) for part, spec in specs.items() if part != EMBEDDER}
    return {
        metric.name: MetricPin(
            pin=digest([_asked(metric, judge), _rests_on(metric, laid_out, templates, options), metric.options]),
            version=metric.version,
            lower_is_better=metric.lower_is_better,
            options=metric.options,
        )
        for metric in metrics
    }


def _asked(metric: Metric, judge: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The parts of the judge behind a metric: an embeddings model is behind those alone that compare embeddings."""
    embeds = Need.REVERSE_QUESTIONS in metric.needs
    return {part: who for part, who in judge.items() if embeds or part != EMBEDDER}


def _rests_on(
    metric: Metric, laid_out: Collection[str], templates: Mapping[str, str], options: Options
) -> dict[str, JsonValue]:
    """The fingerprints of the templates behind a metric, and the options that can move what they are asked."""
    used = {*laid_out, *(name for need in metric.needs for name in _TEMPLATES[need])}
    if type(metric).checks is not Metric.checks:
        used.update(verify.TEMPLATES)
    chosen = options.model_dump(mode="json") if used & {*split.TEMPLATES, *verify.TEMPLATES} else _limits(options)
    return {
        "templates": {name: templates.get(name) for name in sorted(used)},
        "options": chosen,
        "splitter": SPLITTER,
        "layout": VERSION,
    }


def _limits(options: Options) -> dict[str, JsonValue]:
    return options.model_dump(mode="json", include={"source_chars_per_call", "segments_per_call"})
