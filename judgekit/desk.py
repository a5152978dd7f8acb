"""Asking the judge on behalf of one sample: what does not fit one call is asked in parts, and the bill is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from judgekit.errors import RequestTooLong
from judgekit.judge import Judge
from judgekit.records import THE_ANSWER, THE_REFERENCE, Claim, Context, Fault, JudgeCall, Options, Sample, Verdict
from judgekit.tasks import Source, sources_of, verify
from judgekit.together import all_of
from judgekit.wire import Answer, JudgeRequest

T = TypeVar("T")


class Desk:
    """Asks the judge on behalf of one sample, and keeps the bill and the faults."""

    def __init__(self, judge: Judge, options: Options) -> None:
        self.judge = judge
        self.options = options
        self.faults: list[Fault] = []
        self._calls: dict[str, JudgeCall] = {}

    @property
    def calls(self) -> tuple[JudgeCall, ...]:
        """The calls that its answers rest on, in an order that does not depend on which came back first."""
        return tuple(sorted(self._calls.values(), key=lambda call: (call.task, call.key)))

    def most_items(self, limit: int) -> int:
        """How many items go into one call: the limit that is set for prompts, or more where the judge answers so many
        questions at once, each by itself."""
        return max(limit, self.judge.most_questions or limit)

    async def ask(self, request: JudgeRequest) -> dict[str, Answer]:
        """Answers by question id; when the input does not fit the judge, all of them failed as `too_long`."""
        try:
            return await self._asked(request)
        except RequestTooLong as error:
            return _too_long(request, error)

    async def ask_items(
        self, build: Callable[[Sequence[T]], JudgeRequest], items: Sequence[T], *, task: str | None = None
    ) -> dict[str, Answer]:
        """Answers about items, asked in halves when all of them do not fit one call. `task` is what the calls are
        listed as, where the request does not say it well enough."""
        request = build(items)
        try:
            return await self._asked(request, task)
        except RequestTooLong as error:
            if len(items) == 1:
                return _too_long(request, error)
        middle = len(items) // 2
        halves = await all_of(self.ask_items(build, half, task=task) for half in (items[:middle], items[middle:]))
        return {**halves[0], **halves[1]}

    async def verdicts(self, sample: Sample, source_ids: tuple[str, ...], claims: Sequence[Claim]) -> list[Verdict]:
        """The verdicts of claims against one set of sources; sources too long for one call are asked in parts."""
        windows = in_windows(sources_for(sample, source_ids), self.options.source_chars_per_call)
        parts = await all_of(self.verify(window, claims, source_ids) for window in windows)
        return [verify.merged(verdicts) for verdicts in zip(*parts, strict=True)]

    async def verify(
        self, sources: Sequence[Source], claims: Sequence[Claim], source_ids: tuple[str, ...]
    ) -> list[Verdict]:
        """Verdicts of claims against sources, in halves of the sources when they do not fit one call."""
        request = verify.request(self.judge.prompts, sources, claims)
        try:
            answers = await self._asked(request)
        except RequestTooLong as error:
            halves = _halved(sources)
            if halves is not None:
                parts = await all_of(self.verify(half, claims, source_ids) for half in halves)
                return [verify.merged(verdicts) for verdicts in zip(*parts, strict=True)]
            answers = _too_long(request, error)
        required = self.options.evidence == "required"
        return verify.read(answers, sources, claims, source_ids, evidence_required=required)

    async def _asked(self, request: JudgeRequest, task: str | None = None) -> dict[str, Answer]:
        asked = await self.judge.ask(request)
        part = self.judge.part_for(request)
        for call in asked.calls:
            self._calls[call.key] = JudgeCall(
                key=call.key,
                task=task or request.task,
                part=call.part or part,
                prompt_tokens=call.prompt_tokens,
                completion_tokens=call.completion_tokens,
            )
        return asked.answers


def _halved(sources: Sequence[Source]) -> tuple[Sequence[Source], Sequence[Source]] | None:
    """The sources in two halves; a single one is cut at white space, None when that is too short to help."""
    if len(sources) > 1:
        middle = len(sources) // 2
        return sources[:middle], sources[middle:]
    halves = sources[0].halves
    return ([halves[0]], [halves[1]]) if halves else None


def _too_long(request: JudgeRequest, error: RequestTooLong) -> dict[str, Answer]:
    return {i: Answer(id=i, cause=error.cause, raw=str(error)) for i in request.ids}


def sources_for(sample: Sample, source_ids: tuple[str, ...]) -> list[Source]:
    if source_ids == THE_REFERENCE:
        return sources_of([Context(id=THE_REFERENCE[0], text=sample.reference or "")])
    if source_ids == THE_ANSWER:
        return sources_of([Context(id=THE_ANSWER[0], text=sample.answer)])
    return sources_of(sample.context(source_id) for source_id in source_ids)


def in_windows(sources: Sequence[Source], most_chars: int) -> list[list[Source]]:
    """Sources in groups of at most so many characters, in order; a single longer source is a group of its own."""
    windows: list[list[Source]] = [[]]
    room = most_chars
    for source in sources:
        if windows[-1] and len(source.text) > room:
            windows.append([])
            room = most_chars
        windows[-1].append(source)
        room -= len(source.text)
    return windows
