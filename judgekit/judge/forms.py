"""The wire forms of judges that sit behind an endpoint: from a spec to the backend that speaks its form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from judgekit.errors import InputError
from judgekit.judge.backend import Backend
from judgekit.judge.chat import FORM as CHAT
from judgekit.judge.chat import ChatBackend
from judgekit.judge.classifier import FORMS as CLASSIFIERS
from judgekit.judge.classifier import ClassifierBackend
from judgekit.judge.decisions import FORM as DECISIONS
from judgekit.judge.decisions import DecisionBackend
from judgekit.judge.embedding import FORM as EMBEDDINGS
from judgekit.judge.embedding import EmbeddingBackend
from judgekit.judge.endpoint import Endpoint
from judgekit.judge.readout import FORM as READOUT
from judgekit.judge.readout import ReadoutBackend
from judgekit.prompts import Prompts
from judgekit.wire import JudgeSpec

_Maker: TypeAlias = Callable[[JudgeSpec, Endpoint | None, Prompts], Backend]

#: Form of a spec -> what makes its backend. Without an endpoint a backend replays.
_MAKERS: Final[Mapping[str, _Maker]] = {
    CHAT: ChatBackend,
    READOUT: ReadoutBackend,
    DECISIONS: DecisionBackend,
    **dict.fromkeys(CLASSIFIERS, ClassifierBackend),
    EMBEDDINGS: lambda spec, endpoint, _: EmbeddingBackend(spec, endpoint),
}


def backend_of(spec: JudgeSpec, endpoint: Endpoint | None, prompts: Prompts) -> Backend:
    """The backend that speaks the spec's form. Raises InputError for a form that lives behind no endpoint."""
    maker = _MAKERS.get(spec.form)
    if maker is None:
        raise InputError(f"{spec.model} speaks {spec.form!r}, which cannot be replayed")
    return maker(spec, endpoint, prompts)
