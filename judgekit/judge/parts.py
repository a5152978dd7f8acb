"""The backends behind a judge, made from what its users give: names and addresses, or backends of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from judgekit.errors import InputError
from judgekit.judge.address import public_url
from judgekit.judge.backend import Backend
from judgekit.judge.chat import ChatBackend
from judgekit.judge.classifier import FORMS as CLASSIFIERS
from judgekit.judge.classifier import ClassifierBackend, classifier_spec
from judgekit.judge.decisions import FORM as DECISIONS
from judgekit.judge.decisions import DecisionBackend, split_url
from judgekit.judge.dialect import ALTERNATIVES, LOGPROBS, TOP_LOGPROBS
from judgekit.judge.embedding import FORM as EMBEDDINGS
from judgekit.judge.embedding import EmbeddingBackend
from judgekit.judge.endpoint import Endpoint
from judgekit.judge.forms import backend_of
from judgekit.prompts import Prompts
from judgekit.wire import JudgeSpec

#: Opens an endpoint at a URL, with a key and headers, under the limits of the judge.
Opened = Callable[..., Endpoint]

#: Sent unless told otherwise: the same question should get the same answer.
DEFAULT_PARAMS: Final[Mapping[str, JsonValue]] = {"temperature": 0, "seed": 7, "max_tokens": 2048}
#: Set for every request; a parameter of these names would ask something else than the pin says.
_RESERVED: Final = frozenset({"model", "messages", "response_format", "stream", "n"})
#: What the name of a model begins with that is served by a child process.
LOCAL_SCHEMES: Final = ("local:", "hf:")
_AZURE_PATH = "/openai/deployments/"


def model_of(
    name: str,
    base_url: str | None,
    *,
    api_key: str | None,
    headers: Mapping[str, str] | None,
    params: Mapping[str, JsonValue],
    confidence: str | None,
    served: Callable[[str], tuple[str, Endpoint]],
    opened: Opened,
    prompts: Prompts,
) -> tuple[ChatBackend, Endpoint]:
    """A chat model and the endpoint that serves it; one of the LOCAL_SCHEMES is `served` from its file."""
    if name.startswith(LOCAL_SCHEMES):
        if base_url or api_key or headers:
            raise InputError(f"{name} is served from its file; leave out base_url, api_key and headers")
        name, endpoint = served(name)
    else:
        if base_url is None:
            raise InputError(f"Judge({name!r}) needs the endpoint that serves it: base_url='http://.../v1'")
        token, sent = _credentials(base_url, api_key, headers)
        endpoint = opened(base_url, api_key=token, headers=sent)
    spec = JudgeSpec(model=name, base_url=endpoint.public_url, params=params_of(params, confidence))
    return ChatBackend(spec, endpoint, prompts), endpoint


def params_of(own: Mapping[str, JsonValue], confidence: str | None) -> dict[str, JsonValue]:
    """The defaults and on top of them what the user set; None unsets one. Raises InputError for what is not theirs."""
    if confidence not in (None, LOGPROBS):
        raise InputError(f"confidence is {confidence!r}; it can be 'logprobs', or left out")
    if taken := sorted(_RESERVED & own.keys()):
        raise InputError(f"params cannot set {', '.join(taken)}: judgekit sets it itself; leave it out")
    usual = {**DEFAULT_PARAMS, **({LOGPROBS: True, TOP_LOGPROBS: ALTERNATIVES} if confidence else {})}
    if "max_completion_tokens" in own:
        del usual["max_tokens"]  # endpoints refuse both together
    return {name: value for name, value in {**usual, **own}.items() if value is not None}


def _credentials(
    base_url: str, api_key: str | None, headers: Mapping[str, str] | None
) -> tuple[str | None, dict[str, str]]:
    """The bearer token and the headers. A deployment's path at Azure wants a key in a header of its own."""
    if api_key and _AZURE_PATH in base_url:
        return None, {"api-key": api_key, **(headers or {})}
    return api_key, dict(headers or {})


def decider_of(
    name: str,
    url: str | None,
    *,
    form: str | None,
    key: str | None,
    labels: Mapping[str, str] | None,
    pair: str | None,
    beside: Endpoint | None,
    opened: Opened,
    prompts: Prompts,
) -> Backend:
    """What answers the typed questions at a URL: with a key of its own, or at the endpoint of the model that it stands
    `beside`, whose key and headers are sent to no other."""
    if url is None:
        raise InputError(
            f"the decider {name!r} needs the endpoint that serves it: decider_url='http://.../v1' (--decider-url URL)"
        )
    base, path = split_url(url)
    # one server for both has one key and one set of limits
    is_shared = key is None and beside is not None and public_url(base) == beside.public_url
    at = beside if is_shared and beside is not None else opened(base, api_key=key)
    if form in CLASSIFIERS:
        return ClassifierBackend(classifier_spec(name, at.public_url, form=form, labels=labels, pair=pair), at, prompts)
    if labels or pair:
        raise InputError(
            f"decider_labels and decider_pair are for classifiers: give decider_form {' or '.join(CLASSIFIERS)}"
        )
    spec = JudgeSpec(model=name, base_url=at.public_url, form=DECISIONS)
    return DecisionBackend(spec, at, prompts, form=form, path=path)


def alone(opened: Opened, *, api_key: str | None, headers: Mapping[str, str] | None) -> Opened:
    """Opens endpoints for a decider without a model beside it: the judge's own key and headers are meant for that."""
    own = api_key

    def opened_alone(url: str, *, api_key: str | None) -> Endpoint:
        return opened(url, api_key=api_key or own, headers=headers)

    return opened_alone


def members_of(
    panel: Sequence[str | Backend], like: Backend | None, endpoint: Endpoint | None, prompts: Prompts
) -> list[Backend]:
    """The further members of a panel; a name is another model at the judge's own endpoint, asked `like` the first."""
    found: list[Backend] = []
    for one in panel:
        if not isinstance(one, str):
            found.append(one)
        elif endpoint is None or like is None:
            raise InputError(
                f"panel: {one!r} needs the endpoint that serves it; give Judge({one!r}, base_url=...) instead"
            )
        else:
            found.append(backend_of(like.spec.model_copy(update={"model": one}), endpoint, prompts))
    return found


def embedder_of(model: str | Backend | None, endpoint: Endpoint | None) -> Backend | None:
    """The backend that embeds texts: a model of the judge's own endpoint, or what was given."""
    if not isinstance(model, str):
        return model
    if endpoint is None:
        raise InputError(
            f"embedding_model={model!r} needs the endpoint that serves it; give a model with its base_url, or an "
            "embeddings backend"
        )
    return EmbeddingBackend(JudgeSpec(model=model, base_url=endpoint.public_url, form=EMBEDDINGS), endpoint)


def parted(model: Backend | None, decider: Backend | None) -> tuple[Backend | None, Backend]:
    """Who writes, if anybody, and who decides. A backend that cannot write can only decide."""
    decides = decider or model
    if decides is None:
        raise InputError("a judge needs a model or a decider: Judge('model', base_url=...) or Judge(decider=...)")
    if model is None or model.writes:
        return model, decides
    if decides is not model:
        raise InputError(f"{model.spec.model} writes no text, so that beside a decider it has nothing to do")
    return None, decides
