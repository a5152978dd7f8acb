"""A validation for a terminal and for a pipe: for each file and task, the judge beside its floor and its ceiling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judgekit.report.plain import counted, number, one_line, shortened, words
from judgekit.validate.judged import Judged
from judgekit.validate.measure import Compared, Measured, Rate, Tuned

_NAME = 24
_VALUE = 24
_TEXT_CHARS = 200


def lines_of(measured: Measured) -> Iterator[str]:
    """The numbers of one file and task, a line each; what has no value is left out, except the judge's own."""
    m = measured
    lost = [f"{sum(counts.values()):,} {what} ({counted(counts)})" for what, counts in _missing(m) if counts]
    yield f"{one_line(m.name)}, {words(m.task)}: {m.rows:,} rows in {m.groups:,} groups"
    yield from (f"  not scored: {line}" for line in lost)
    yield f"  {'':<{_NAME}}{'value [95 %]':<{_VALUE}}{'rows':>6}"
    confidence = "from probabilities" if m.has_probabilities else "from labels: the judge gives no probabilities"
    one_class = "none: people call them all alike" if m.balanced_accuracy.n else ""
    balance = "the judge's own yes or no" if m.balanced_accuracy.value is not None else one_class
    yield _line("balanced accuracy", m.balanced_accuracy, balance)
    yield _line("bad ones found", m.found_bad, "TPR of what people call bad")
    yield _line("good ones passed", m.passed_good, "TNR")
    yield from _tuned("with a tuned threshold", m.tuned)
    yield _line("AUC", m.auc, confidence)
    for name, rate in (("Spearman", m.spearman), ("Pearson", m.pearson)):
        if rate.value is not None:
            yield _line(name, rate, "score against the people's grade")
    yield _line("floor: overlap, AUC", m.overlap_auc, "word overlap alone")
    yield from _tuned("floor: overlap, tuned", m.overlap_tuned)
    if m.human.value is not None:
        yield _line("ceiling: one rater", m.human, "against the majority of the others")
    each = m.calls / m.rows if m.rows else 0.0
    tokens = f"{m.prompt_tokens:,} prompt and {m.completion_tokens:,} completion tokens"
    yield f"  rests on {m.calls:,} calls ({each:.1f} a row), {tokens}"


def compared_lines(compared: Compared) -> Iterator[str]:
    """Two sets of prompts on the same rows."""
    c = compared
    yield f"{one_line(c.name)}, {words(c.task)}: the other prompts on the same {c.rows:,} rows"
    yield _line("balanced accuracy, +/-", c.difference, "other prompts less these")
    yield f"  right only with these {c.only_a:,}, only with the others {c.only_b:,}; McNemar mid-p {c.p:.3f}"


def worst_lines(rows: Sequence[Judged]) -> Iterator[str]:
    """Where judge and people are farthest apart."""
    for one in rows:
        human = "good" if one.row.is_good else "bad"
        yield f"  {one_line(one.row.id)}: people say {human}, the judge {words(one.said or '-')} ({number(one.score)})"
        yield f"    {shortened(one.row.sample.answer or one.row.sample.question, most=_TEXT_CHARS)}"


def _missing(m: Measured) -> tuple[tuple[str, dict[str, int]], ...]:
    return ("unjudged", m.unjudged), ("without a value", m.undefined)


def _line(name: str, rate: Rate, note: str) -> str:
    return f"  {name:<{_NAME}}{_shown(rate):<{_VALUE}}{rate.n:>6,}  {note}".rstrip()


def _tuned(name: str, tuned: Tuned) -> Iterator[str]:
    if tuned.threshold is not None:
        yield _line(name, tuned.balanced_accuracy, f"from {tuned.threshold:.3g} on; tuned on other groups")


def _shown(rate: Rate) -> str:
    if rate.value is None or rate.low is None:
        return number(rate.value)
    return f"{number(rate.value)} [{number(rate.low)}, {number(rate.high)}]"
