"""The judge as its users see it: who is asked, where, and how; one object for a whole run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from math import fsum
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from pydantic import JsonValue

from judgekit.errors import InputError
from judgekit.judge import cassette as cassettes
from judgekit.judge.asking import Asked, Asker, Meter
from judgekit.judge.backend import Backend
from judgekit.judge.budget import Budget
from judgekit.judge.chat import ChatBackend
from judgekit.judge.classifier import ClassifierBackend
from judgekit.judge.endpoint import Endpoint
from judgekit.judge.forms import backend_of
from judgekit.judge.later import Later, Postable
from judgekit.judge.messages import Say, say_nothing, warn
from judgekit.judge.naming import names_snapshot
from judgekit.judge.panel import Panel, votes_of
from judgekit.judge.parts import alone, decider_of, embedder_of, members_of, model_of, parted
from judgekit.judge.readout import ReadoutBackend, readout_spec
from judgekit.judge.rehearsal import Above, Rehearsal
from judgekit.judge.store import DATABASE, Store
from judgekit.loop import wait
from judgekit.prompts import Prompts, prompts_of
from judgekit.together import all_of
from judgekit.wire import JudgeRequest, JudgeSpec, Texts, Vector

#: The parts of a panel after the first decider: `decider 2`, `decider 3`, ...
_FURTHER = "decider "


def _served(
    name: str, *, context_size: int | None, timeout: float, max_attempts: int, on_message: Say
) -> tuple[str, Endpoint]:
    """The name and the endpoint of a model that is served from its file."""
    from judgekit.judge.local import local_endpoint  # noqa: PLC0415 - processes and pipes, where there is such a model

    endpoint = local_endpoint(
        name, context_size=context_size, timeout=timeout, max_attempts=max_attempts, on_message=on_message
    )
    return endpoint.model, endpoint


def _belong_to_a_name(**given: str | None) -> None:
    """Raise InputError for what says how a decider is asked where none is named."""
    if told := [name for name, value in given.items() if value is not None]:
        raise InputError(
            f"{', '.join(told)} given without the decider it belongs to: decider='MODEL' (--decider MODEL)"
        )


class Judge:
    """One pinned judge: a model on an OpenAI-compatible endpoint, or a backend of your own.

    model: the model name as the endpoint knows it, better a dated one; `local:FILE.gguf`, or
    `hf:OWNER/REPO/FILE.gguf`, which is served by a child process and needs no base_url; or a Backend, such as
    `Scripted(...)`.
    base_url: where it is served, for instance `http://127.0.0.1:8080/v1`; nothing is sent anywhere else.
    api_key: sent as bearer token, to an Azure deployment as `api-key`; None sends none. Never stored, never shown.
    headers: sent with every request; treated as secrets too.
    params: request parameters, on top of temperature 0, seed 7 and max_tokens 2048; None unsets one.
    decider: who answers the typed questions: the name of a decision model at `decider_url` (or else at `base_url`), or
    a backend (a classifier, a script); `model` then only writes what has to be written. Without `model` the decider is
    the whole judge, and nothing can be written. decider_form: how it is asked: `decisions` or `systemone`, which None
    finds out, or for an entailment classifier `tei-predict` or `vllm-classify`. decider_key: its key; that of `model`
    goes to no other URL. decider_labels: class of a classifier -> entailment, neutral or contradiction. decider_pair:
    how premise and hypothesis become one text, where it takes one: '{premise}</s></s>{hypothesis}'.
    panel: further deciders, so that the majority of all answers each typed question: names of other models at
    `base_url`, judges of their own, or backends. votes: how often each decider is asked. Without a majority a question
    is unjudged.
    readout: answer the typed questions by one token each, its probability read from the endpoint's logprobs, instead
    of JSON; texts are still split as JSON.
    confidence: with `logprobs`, labels written as JSON carry the probabilities of their tokens, where the endpoint
    gives them.
    embedding_model: the model of `base_url` that embeds texts, or another backend for that; only what compares
    embeddings needs one. A backend of your own given as `model` is asked for vectors too, unless told otherwise.
    cache: folder where paid replies are kept and found again; None keeps them in memory, or beside a run.
    prompts: folder whose *.j2 files replace the shipped ones of the same name.
    timeout: seconds for one attempt, whole. concurrency: requests in flight at most; fewer after an HTTP 429.
    rpm, tpm: requests and tokens a minute that the endpoint may be sent at most.
    budget: what may be spent in this judge's life, and what tokens cost.
    strict_pin: refuse a model name that may come to mean another model, and replies that do not say who wrote them.
    context_size: tokens that a `local:` or `hf:` model can read and write in one call; 8192 by default.
    on_message: told what takes long with such a model: fetching, loading, and at the end how fast it was.

    Opens nothing until it is asked, but reads the file of a local model, whose hash is part of its pin. It can be
    shared by many runs, threads and event loops. `with Judge(...)` and `async with Judge(...)` close its connections,
    and end the process of a local model; the end of the process does it too. Raises InputError for a model without a
    base_url, or one that is no URL.
    """

    def __init__(
        self,
        model: str | Backend | None = None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        params: Mapping[str, JsonValue] | None = None,
        headers: Mapping[str, str] | None = None,
        decider: str | Backend | None = None,
        decider_url: str | None = None,
        decider_form: str | None = None,
        decider_key: str | None = None,
        decider_labels: Mapping[str, str] | None = None,
        decider_pair: str | None = None,
        panel: Sequence[str | Backend | Judge] = (),
        votes: int = 1,
        readout: bool = False,
        confidence: Literal["logprobs"] | None = None,
        embedding_model: str | Backend | None = None,
        cache: str | Path | None = None,
        prompts: str | Path | None = None,
        timeout: float = 120.0,
        max_attempts: int = 6,
        concurrency: int = 16,
        rpm: float | None = None,
        tpm: float | None = None,
        budget: Budget | None = None,
        strict_pin: bool = False,
        context_size: int | None = None,
        on_message: Say = say_nothing,
    ) -> None:
        self.prompts: Prompts = prompts_of(Path(prompts) if prompts is not None else None)
        self.concurrency = concurrency
        self.is_replay = False
        opened = partial(
            Endpoint,
            timeout=timeout,
            max_attempts=max_attempts,
            concurrency=concurrency,
            rpm=rpm,
            tpm=tpm,
            on_message=warn,
        )
        served = partial(
            _served, context_size=context_size, timeout=timeout, max_attempts=max_attempts, on_message=on_message
        )
        endpoint: Endpoint | None = None
        if readout and (decider is not None or not isinstance(model, str)):
            raise InputError("readout=True reads a chat model out: give it a model and its base_url, and no decider")
        if isinstance(model, str):
            model, endpoint = model_of(
                model,
                base_url,
                api_key=api_key,
                headers=headers,
                params=params or {},
                confidence=confidence,
                served=served,
                opened=opened,
                prompts=self.prompts,
            )
            if readout:
                decider = ReadoutBackend(readout_spec(model.spec), endpoint, self.prompts)
        if isinstance(decider, str):
            decider = decider_of(
                decider,
                decider_url or base_url,
                form=decider_form,
                key=decider_key,
                labels=decider_labels,
                pair=decider_pair,
                beside=endpoint,
                opened=opened if model is not None else alone(opened, api_key=api_key, headers=headers),
                prompts=self.prompts,
            )
        else:
            _belong_to_a_name(decider_url=decider_url, decider_form=decider_form, decider_key=decider_key)
        model, decider = parted(model, decider)
        self._has_cache = cache is not None
        self._store = Store(Path(cache) if cache is not None else None, on_message=warn)

        def asker(backend: Backend) -> Asker:
            return Asker(backend, self._store, strict=strict_pin)

        self._extractor = None if model is None else asker(model)
        self._decider = asker(decider) if self._extractor is None or decider is not model else self._extractor
        mine = decider if readout else model
        others = [one.decides if isinstance(one, Judge) else one for one in panel]
        members = members_of(others, mine, endpoint, self.prompts)
        first = "decider" if self._decider is not self._extractor else "extractor"
        further = {f"{_FURTHER}{number}": asker(member) for number, member in enumerate(members, start=2)}
        self._panel = Panel({first: self._decider, **further}, votes=votes)
        embedder = embedder_of(embedding_model, endpoint)
        self._embedder: Asker | None = None if isinstance(model, ChatBackend) else self._extractor
        if embedder is not None and embedder is not model:
            self._embedder = asker(embedder)
        self._check(strict_pin=strict_pin, is_live=endpoint is not None)
        self.use_budget(budget or Budget())

    def _check(self, *, strict_pin: bool, is_live: bool) -> None:
        """Raise InputError for what a strict pin refuses, and warn of votes that cannot differ."""
        if strict_pin and self.aliases:
            raise InputError(
                f"strict_pin: {', '.join(self.aliases)} names no snapshot, so another model may answer under it "
                "tomorrow; give a dated name or a version"
            )
        if is_live and not self._panel.is_varied:
            warn("repeated votes of a judge at temperature 0 are likely all the same; set a temperature above 0")

    @classmethod
    def replay(cls, path: str | Path, *, prompts: str | Path | None = None) -> Judge:
        """A judge that answers from a cassette and from nothing else; what it does not hold is a CassetteMiss."""
        tape = cassettes.read(Path(path))
        shown = prompts_of(Path(prompts) if prompts is not None else None)
        voices: dict[str, Backend] = {}
        for part, voice in tape.voices.items():
            try:
                voices[part] = backend_of(voice.spec, None, shown)
            except InputError as error:
                raise InputError(f"{path}: its {part}: {error}") from None
            voices[part].learn(voice.dialect)
        judge = cls(
            voices.get("extractor"),
            decider=voices.get("decider"),
            panel=[voices[part] for part in sorted(voices, key=len) if part.startswith(_FURTHER)],
            votes=votes_of(voice.spec for voice in tape.voices.values()),
            embedding_model=voices.get("embedder"),
            prompts=prompts,
        )
        judge.load(tape.rows)
        return judge

    def load(self, rows: Mapping[str, str]) -> None:
        """Serve these recorded rows, also those whose reply could not be read, and keep nothing on disk."""
        self.is_replay = True
        self._store = Store(None)
        for key, row in rows.items():
            self._store.put(key, row)
        for asker in self._parts.values():
            asker.use_store(self._store)
            asker.replay = True

    def __repr__(self) -> str:
        return f"<Judge {', '.join(f'{part}={asker.backend.spec.model}' for part, asker in self._parts.items())}>"

    @property
    def _parts(self) -> dict[str, Asker]:
        parts = {} if self._extractor is None else {"extractor": self._extractor}
        parts |= self._panel.members
        if self._embedder is not None and self._embedder is not self._extractor:
            parts["embedder"] = self._embedder
        return parts

    @property
    def specs(self) -> dict[str, JudgeSpec]:
        """Part -> who answers: as configured, with the resolved model once it is known. A part that votes more than
        once has the number of its votes among its settings."""
        return {part: self._panel.signed(part, asker.who or asker.backend.spec) for part, asker in self._parts.items()}

    @property
    def decides(self) -> Backend:
        """What answers the typed questions, of a panel the first."""
        return self._decider.backend

    @property
    def aliases(self) -> list[str]:
        """The names among those asked for behind which the model may change."""
        named = (asker.backend.spec.model for asker in self._parts.values())
        return [name for name in dict.fromkeys(named) if not names_snapshot(name)]

    @property
    def backends(self) -> dict[str, Backend]:
        """Part -> what asks its endpoint."""
        return {part: asker.backend for part, asker in self._parts.items()}

    @property
    def recorded(self) -> dict[str, dict[str, str]]:
        """Part -> the stored rows of the replies used since `record`, by key."""
        return {part: asker.used or {} for part, asker in self._parts.items()}

    @property
    def writes(self) -> bool:
        """Whether a part of it writes text; a decider alone only answers typed questions."""
        return self._extractor is not None

    @property
    def compares_only(self) -> bool:
        """Whether a decider only tells if one text follows from another, and no other question can be asked."""
        return any(isinstance(asker.backend, ClassifierBackend) for asker in self._panel.members.values())

    @property
    def most_questions(self) -> int | None:
        """How many typed questions one call can hold, where the decider says so."""
        return self._panel.most_questions

    @property
    def dialects(self) -> dict[str, dict[str, JsonValue]]:
        """Part -> what was found out about its endpoint."""
        return {part: asker.backend.dialect for part, asker in self._parts.items()}

    @property
    def meters(self) -> dict[str, Meter]:
        """Part -> what this session did."""
        return {part: asker.meter for part, asker in self._parts.items()}

    def use_budget(self, budget: Budget) -> None:
        """Spend within this from now on. Raises InputError when it caps money and a price is not known."""
        models = {part: asker.backend.spec.model for part, asker in self._parts.items()}
        budget.learn(models, own={"extractor", "decider"})
        self.budget = budget
        for asker in self._parts.values():
            asker.budget = budget if budget.is_bounded else None

    def rehearsal(self, folder: Path) -> tuple[Judge, Above]:
        """This judge on paper, as it would be with replies kept in `folder`: what is kept is answered from there, and
        all else by placeholders, which the store that comes with it keeps. Nothing is sent, and no file is written."""
        below = self._store if self._has_cache or self.is_replay else Store(folder)
        if below.folder is not None and not (below.folder / DATABASE).exists():
            below = Store(None)  # opening it would make the folder
        above = Above(below)
        askers = {asker: Asker(Rehearsal(asker.backend), above) for asker in self._parts.values()}
        for asker, other in askers.items():
            other.replay = asker.replay
        return self._with(askers, above), above

    def anew(self) -> Judge:
        """The same judge with nothing kept: whatever is asked of it is sent, to the same endpoints."""
        nothing = Store(None)
        other = self._with({asker: asker.anew(nothing) for asker in self._parts.values()}, nothing)
        other.use_budget(self.budget)
        return other

    def _with(self, askers: Mapping[Asker, Asker], store: Store) -> Judge:
        """This judge with other askers over another store."""
        other, panel = copy(self), copy(self._panel)
        panel.members = {part: askers[asker] for part, asker in panel.members.items()}
        parts = {"_extractor": self._extractor, "_decider": self._decider, "_embedder": self._embedder}
        vars(other).update({name: askers.get(asker) if asker else None for name, asker in parts.items()})
        vars(other).update(_store=store, _panel=panel)
        return other

    @property
    def cost(self) -> float | None:
        """What was paid in this judge's life; None where a price, or what an endpoint used, is not known."""
        costs = []
        for asker in self._parts.values():
            meter, price = asker.meter, self.budget.prices.get(asker.backend.spec.model)
            tokens = (meter.prompt_tokens, meter.completion_tokens)
            if meter.sent and (price is None or not any(tokens)):
                return None
            costs.append(price.of(*tokens) if price is not None else 0.0)
        return fsum(costs)

    def use_store(self, folder: Path) -> None:
        """Keep paid replies in this folder from now on, unless another was chosen. A replay keeps nothing.

        What was asked so far in memory goes along.
        """
        if self.is_replay or self._has_cache or self._store.folder == folder:
            return
        store = Store(folder, on_message=warn)
        for key in self._store.keys() if self._store.folder is None else ():
            if (row := self._store.get(key)) is not None:
                store.put(key, row)
        self._store = store
        for asker in self._parts.values():
            asker.use_store(store)

    @property
    def is_settled(self) -> bool:
        """True when what rests on replies may be kept beside them: in a cache of its own, with all parts known."""
        return self._has_cache and not self.is_replay and all(asker.is_settled for asker in self._parts.values())

    def remember(self, key: str, text: str) -> None:
        """Keep a text beside the replies that it rests on."""
        self._store.put(key, text)

    def recall(self, key: str) -> str | None:
        """The text that was kept under a key; None where there is none."""
        return self._store.get(key)

    def reuse(self, parts: Iterable[str]) -> None:
        """Count a call of each of these parts as answered from what was kept."""
        meters = self.meters
        for part in parts:
            meters[part].reused += 1

    def pin(self, specs: Mapping[str, JudgeSpec]) -> None:
        """Answer as these only, as a run began. Raises JudgeDrift when another model answered already."""
        for part, spec in specs.items():
            if part in self._parts and spec.resolved is not None:
                self._parts[part].pin(spec)

    def doubt(self) -> None:
        """Confirm by the next call who answers, where only another run that used the same cache tells; see
        Asker.doubt."""
        for asker in self._parts.values() if self._has_cache else ():
            asker.doubt()

    @property
    def postables(self) -> dict[str, Postable]:
        """Part -> its backend, if batches can hold its calls. Raises InputError where one of them cannot be batched."""
        found = {}
        for part, asker in self._parts.items():
            backend = asker.backend
            if not isinstance(backend, Postable) or backend.endpoint is None:
                kind = "a replay sends nothing" if self.is_replay else f"{backend.spec.form!r} has no batch form"
                raise InputError(f"{backend.spec.model} cannot be asked by batches: {kind}; leave out --batch")
            found[part] = backend
        return found

    def answer_later(self, later: Mapping[str, Later]) -> None:
        """Take what batches brought, by part, and send nothing that a part's `Later` postpones; {}: as usual."""
        for part, asker in self._parts.items():
            asker.later = later.get(part)

    def take_for_granted(self) -> None:
        """Hold the models, where it is not known yet who answers, for exactly those that were asked for."""
        for asker in self._parts.values():
            if asker.who is None:
                asker.pin(asker.backend.spec.model_copy(update={"resolved": asker.backend.spec.model}))

    async def ask(self, request: JudgeRequest, *, repeat: int = 0) -> Asked:
        """Ask typed questions: extractions go to the extractor, texts to be embedded to the embedder, all else to the
        decider. See Asker.ask. Raises InputError when there is no extractor, or no embedder."""
        if any(isinstance(question, Vector) for question in request.questions):
            return await self.embedder_for(request.task).ask(request, repeat=repeat)
        if not any(isinstance(question, Texts) for question in request.questions):
            return await self._panel.ask(request, repeat=repeat)
        if self._extractor is None:
            raise InputError(
                f"{request.task} has to be written, and {self._decider.backend.spec.model} only decides: give a model "
                "that writes as well"
            )
        return await self._extractor.ask(request, repeat=repeat)

    def part_for(self, request: JudgeRequest) -> str:
        """The name of the part that answers a request, of a panel the first."""
        if any(isinstance(question, Vector) for question in request.questions):
            return "embedder" if self._embedder is not self._extractor else "extractor"
        writes = any(isinstance(question, Texts) for question in request.questions)
        return "extractor" if writes or self._decider is self._extractor else "decider"

    def embedder_for(self, what: str) -> Asker:
        """The part that embeds texts. Raises InputError, naming what needs it, when there is none."""
        if self._embedder is None:
            raise InputError(
                f"{what} needs embeddings, and this judge has no model for them: give Judge(..., embedding_model=...) "
                f"or --embedding-model, or leave out {what}"
            )
        return self._embedder

    def record(self) -> None:
        """Note every reply that is used from now on, for `write_cassette`."""
        for asker in self._parts.values():
            asker.used = asker.used if asker.used is not None else {}

    def write_cassette(self, path: Path) -> None:
        """Write the replies used since `record`."""
        rows: dict[str, str] = {}
        voices: dict[str, cassettes.Voice] = {}
        for part, asker in self._parts.items():
            rows.update(asker.used or {})
            voices[part] = cassettes.Voice(self.specs[part], asker.backend.dialect)
        cassettes.write(path, cassettes.Cassette(voices, rows))

    async def land(self, seconds: float) -> None:
        """End what was asked in the running loop: calls in flight are waited for so long, so that their replies are
        kept, and what is not sent yet is given up."""
        await all_of(asker.land(seconds) for asker in dict.fromkeys(self._parts.values()))

    async def aclose(self) -> None:
        """Close what is open in the running event loop."""
        for asker in self._parts.values():
            await asker.close()

    def close(self) -> None:
        """Close what the synchronous functions (`score`, `judge_log`, ...) hold open; it can be asked again later."""
        wait(self.aclose())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
