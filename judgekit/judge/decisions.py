"""Decision models: typed questions out, probabilities back, no text to parse.

How an endpoint wants to be asked (which body, at which path) is given, or found out from its own refusals by the first
call that succeeds; after that it is never changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from pydantic import JsonValue

from judgekit.errors import InputError, JudgekitError, JudgeUnusable, RequestRefused, ServerFailed
from judgekit.judge import decisions_asked, decisions_read, envelope
from judgekit.judge.backend import Body
from judgekit.judge.decisions_asked import FORMS, MOST_QUESTIONS, Form
from judgekit.judge.endpoint import Endpoint
from judgekit.judge.faults import NotServed
from judgekit.judge.served import Served
from judgekit.prompts import Prompts
from judgekit.wire import INPUT_CUT, Answer, JudgeReply, JudgeRequest, JudgeSpec

FORM = "decisions"
#: A refusal with one of these may mean that this is not how the endpoint is asked.
_NOT_SO: Final = frozenset({400, 405, 415, 422, 501})
#: So many requests refused in every way, and none answered, mean that no other will fare better.
_MOST_REFUSED: Final = 3


class Way(NamedTuple):
    """One way to ask: the form of the body, and the path below the base URL where it goes."""

    form: Form
    path: str


#: The ways in use, in the order in which they are tried: gateways take the `systemone` body at either path.
WAYS: Final = (Way("decisions", "/decisions"), Way("systemone", "/systemone"), Way("systemone", "/decisions"))


class DecisionBackend(Served):
    """A decision model behind an endpoint. Without one it replays.

    `form` and `path` say how it is asked, as far as that is known. Raises InputError when no way fits both.
    """

    most_questions = MOST_QUESTIONS

    def __init__(
        self,
        spec: JudgeSpec,
        endpoint: Endpoint | None,
        prompts: Prompts,
        *,
        form: str | None = None,
        path: str | None = None,
    ) -> None:
        super().__init__(spec, endpoint)
        self._prompts = prompts
        self._ways = tuple(way for way in WAYS if form in (None, way.form) and path in (None, way.path))
        if not self._ways:
            asked = f"{form!r} at {path}" if form in FORMS else repr(form)
            raise InputError(f"no decision model is asked as {asked}; the forms are {' and '.join(FORMS)}")
        self._is_proven = False
        self._refused_so_far = 0

    @property
    def dialect(self) -> dict[str, JsonValue]:
        if len(self._ways) > 1:
            return {}
        return {"format": self._ways[0].form, "path": self._ways[0].path}

    def learn(self, dialect: Mapping[str, JsonValue]) -> None:
        """Ask in the way that was found out. What was given, and what is no way at all, is left as it is."""
        known = tuple(way for way in self._ways if [*way] == [dialect.get("format"), dialect.get("path")])
        self._ways = known or self._ways

    def prepare(self, request: JudgeRequest) -> Body:
        way = self._ways[0]
        return {"form": way.form, "asked": decisions_asked.in_order(self._body(request, way))}

    async def send(self, request: JudgeRequest) -> tuple[Body, JudgeReply]:
        endpoint = self._asks(request)
        refusals: list[JudgekitError] = []
        for way in self._ways:
            body = self._body(request, way)
            try:
                data = await endpoint.post(way.path, body)
                reply = self._reply(request, data, way)
            except (NotServed, RequestRefused, _OtherForm) as refusal:
                if not _is_about_the_way(refusal):
                    raise
                refusals.append(refusal)
            else:
                self._ways, self._is_proven = (way,), True
                return body, reply
        self._refused_so_far += not self._is_proven
        raise self._refused(refusals)

    def read(self, request: JudgeRequest, reply: JudgeReply) -> dict[str, Answer]:
        return decisions_read.read(request, reply)

    def _body(self, request: JudgeRequest, way: Way) -> dict[str, JsonValue]:
        body = decisions_asked.body(self._prompts, request, model=self._spec.model, form=way.form)
        return {**body, **self._spec.params}

    def _reply(self, request: JudgeRequest, data: Mapping[str, Any], way: Way) -> JudgeReply:
        """What matters of a reply. Raises _OtherForm for one without answers of this form."""
        answers = data.get("answers")
        if not isinstance(answers, list if way.form == "decisions" else dict):
            shown = self._endpoint.shown(str(data)) if self._endpoint is not None else ""
            raise _OtherForm(
                f"{self._spec.base_url}{way.path} answered without answers of the form {way.form}: {shown}"
            )
        return JudgeReply(
            text=decisions_read.kept(data),
            finish=INPUT_CUT if decisions_read.is_cut(data, request.ids) else "stop",
            model=envelope.model(data),
            **envelope.used(data)._asdict(),
        )

    def _refused(self, refusals: list[JudgekitError]) -> JudgekitError:
        """The one error of all ways that were tried: what the endpoint said of a request that it understood, where it
        understood one. Where it understands none of the first, it is the wrong endpoint or the wrong model."""
        said = [refusal for refusal in refusals if not isinstance(refusal, NotServed)]
        told = " | ".join(dict.fromkeys(map(str, said)))
        if said and self._refused_so_far >= _MOST_REFUSED:
            return JudgeUnusable(
                f"the first {self._refused_so_far} requests were refused in every form, so that {self._spec.model} at "
                f"{self._spec.base_url} is no decision model: {told}"
            )
        if len(refusals) == 1:
            return refusals[0]
        if said:
            return said[0] if len(said) == 1 else type(said[0])(told)
        paths = " and ".join(dict.fromkeys(way.path for way in self._ways))
        return JudgeUnusable(
            f"{self._spec.base_url} serves nothing at {paths}: check the base URL of the decision model (many end in "
            "/v1), or give the whole URL that its requests go to"
        )


class _OtherForm(ServerFailed):
    """A reply in another form than the request."""


def _is_about_the_way(refusal: JudgekitError) -> bool:
    return not isinstance(refusal, RequestRefused) or refusal.status in _NOT_SO


def split_url(url: str) -> tuple[str, str | None]:
    """The base URL, and the path below it where requests go if the URL names that: both `https://host/v1` and
    `https://host/v1/systemone` may be given."""
    address = urlsplit(url)
    base, _, last = address.path.rstrip("/").rpartition("/")
    if f"/{last}" not in {way.path for way in WAYS}:
        return url, None
    return address._replace(path=base).geturl(), f"/{last}"
