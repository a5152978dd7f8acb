"""Every error judgekit raises on purpose, in one tree. Each message names the thing, the place and the remedy.

JudgekitError
├── Postponed                 what was asked is answered later, by a batch; never seen outside
├── InputError                bad input: a log row, an option, a file; exit code 2
│   ├── LogError              a row of a log: file, line, field, remedy
│   ├── PromptError           a template is missing or does not render
│   ├── CassetteMiss          the cassette holds no reply to what was asked
│   └── NotARun               a directory is not a judgekit run, or belongs to another log or judge
├── JudgeError                one call failed; the questions in it become `unjudged`
│   ├── CallTimeout           no answer within the time allowed
│   ├── ConnectionFailed      refused, reset, or broken off
│   ├── RateLimited           HTTP 429; may say when to come back
│   ├── ServerFailed          HTTP 5xx, or a body that is not the API's
│   ├── RequestTooLong        the input exceeds the judge's window
│   ├── ContentFiltered       the endpoint refused to answer this input
│   └── RequestRefused        another HTTP 4xx about this one request
└── JudgeStop                 the run stops; finished rows and paid replies are kept
    ├── JudgeUnusable         wrong key, unknown model, quota used up; exit code 2
    ├── JudgeUnreachable      nothing succeeds any more; exit code 3
    ├── BudgetSpent           a cap on calls, tokens or money is reached; exit code 3
    ├── BatchUnderWay         a batch is not done in the time that was given to it; exit code 3
    └── JudgeDrift            another model answers than the pinned one; exit code 3
"""

from __future__ import annotations

_SHOWN = 10


class JudgekitError(Exception):
    """Root of everything judgekit raises on purpose."""

    exit_code = 2


class Postponed(JudgekitError):
    """What was asked goes out with a batch: the sample is taken up again when the answers are there."""


class InputError(JudgekitError):
    """Something handed to judgekit cannot be used; the message says what to change."""


class LogError(InputError):
    """Rows of a log that cannot be read.

    `problems` holds one line a problem, each as `file:line: field: what is wrong; remedy`.
    """

    def __init__(self, problems: list[str]) -> None:
        self.problems = tuple(problems)
        shown = "\n".join(problems[:_SHOWN])
        more = f"\n... and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        super().__init__(shown + more)


class PromptError(InputError):
    """A prompt template is missing, lacks a block, or puts unquoted text into a prompt."""


class CassetteMiss(InputError):
    """A replay asked something that was never recorded."""


class NotARun(InputError):
    """A directory that should hold a run does not, or holds one of another log or judge."""


class JudgeError(JudgekitError):
    """One call to the judge failed. It never becomes a score: its questions are `unjudged`.

    `cause` is the short code kept in records and counted in reports.
    """

    exit_code = 3
    cause = "judge_error"


class CallTimeout(JudgeError):
    """The endpoint did not answer within the time allowed."""

    cause = "timeout"


class ConnectionFailed(JudgeError):
    """The connection was refused, reset or broken off."""

    cause = "connection"


class RateLimited(JudgeError):
    """HTTP 429. `retry_after` is the pause in seconds that the endpoint asked for, if it did."""

    cause = "rate_limited"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(message)


class ServerFailed(JudgeError):
    """HTTP 5xx, or a reply that is not the API's (an HTML error page, a cut-off body)."""

    cause = "server_error"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(message)


class RequestTooLong(JudgeError):
    """The input exceeds the judge's context window; it is asked again in parts, never cut."""

    cause = "too_long"


class ContentFiltered(JudgeError):
    """The endpoint's content filter refused this input, or the model declined to answer it."""

    cause = "content_filter"


class RequestRefused(JudgeError):
    """An HTTP 4xx that concerns this one request.

    `status` is the HTTP status (0: none), `code` and `param` are what the endpoint named as the reason and as the
    parameter at fault, so that a caller can adapt the request; `message` is the text of the error.
    """

    cause = "refused_by_endpoint"

    def __init__(self, message: str, *, status: int = 0, code: str | None = None, param: str | None = None) -> None:
        self.message = message
        self.status = status
        self.code = code
        self.param = param
        super().__init__(message)


class JudgeStop(JudgekitError):
    """The run stops here. Finished rows and paid replies are kept; the same command goes on later."""

    exit_code = 3


class JudgeUnusable(JudgeStop):
    """The judge cannot be used as configured: wrong key, unknown model, quota used up.

    `status` is the HTTP status that said so (0: none).
    """

    exit_code = 2

    def __init__(self, message: str, *, status: int = 0) -> None:
        self.status = status
        super().__init__(message)


class JudgeUnreachable(JudgeStop):
    """No call succeeds any more; going on would only write `unjudged` rows."""


class BudgetSpent(JudgeStop):
    """A cap that the user set is reached, with rows left to judge."""


class BatchUnderWay(JudgeStop):
    """A batch is still being worked at by the endpoint; the same command takes it up again."""


class JudgeDrift(JudgeStop):
    """Another model answers than the one this run is pinned to."""
