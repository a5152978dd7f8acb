"""Prompt templates: all wording lives in the Jinja2 files of `prompts/`, one file a kind of question.

Judged text is data. It enters a prompt only through the `quote` filter, as a JSON string that cannot end its own
quotes and cannot form a chat model's control tokens; any other variable in a template raises. Templates run in
Jinja2's sandbox, and undefined names are errors.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import lru_cache
from pathlib import Path

from jinja2 import FileSystemLoader, StrictUndefined, Template, TemplateError, TemplateNotFound, meta
from jinja2.sandbox import SandboxedEnvironment

from judgekit.errors import PromptError
from judgekit.shipped import shipped

# What could open a control token (<|im_start|>, </think>, <s>, <start_of_turn>, forms with a full-width bar, [INST],
# [/INST], [gMASK]) in a chat template.
_TOKEN_OPENER = re.compile(r"<(?=[|/!?a-zA-Z\uff5c])|\[(?=/?(?:[A-Z_]{3,}|[a-z]?MASK)\])")
_JSON = json.JSONEncoder(ensure_ascii=False)
_LINE_ENDS = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"})


class Quoted(str):
    """Text that may stand in a prompt: a JSON string, or a block rendered from a template."""

    __slots__ = ()


def quote(text: str) -> Quoted:
    """The text as one JSON string on one line; lone surrogates are replaced, control-token openers escaped."""
    sound = str(text).encode("utf-8", "replace").decode("utf-8")
    line = _JSON.encode(sound).translate(_LINE_ENDS)
    return Quoted(_TOKEN_OPENER.sub(lambda opener: f"\\u{ord(opener[0]):04x}", line))


def _only_quoted(value: object) -> object:
    if isinstance(value, Quoted | int):
        return value
    raise PromptError(
        f"a template prints a {type(value).__name__} without the quote filter; write {{{{ name|quote }}}}"
    )


class _Sandbox(SandboxedEnvironment):
    """Jinja2's sandbox, which need not look long at the fields of a named tuple: they are what a template is given."""

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
        return attr in getattr(type(obj), "_fields", ()) or super().is_safe_attribute(obj, attr, value)


class Prompts:
    """The templates of one folder, with the shipped ones behind it.

    A folder of your own needs only the files it changes. Raises PromptError when it does not exist.
    """

    def __init__(self, folder: Path | None = None) -> None:
        if folder is not None and not folder.is_dir():
            raise PromptError(f"{folder}: no such folder of prompts; give a folder with *.j2 files")
        self.folders = [path for path in (folder, shipped("prompts")) if path is not None]
        self._environment = _Sandbox(
            loader=FileSystemLoader(self.folders),
            undefined=StrictUndefined,
            autoescape=False,  # prompts are not HTML; `quote` is what every variable must pass
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
            finalize=_only_quoted,
            auto_reload=False,  # what a run rests on is what it began with
        )
        self._environment.filters["quote"] = quote
        self._globals = dict(self._environment.globals)
        self._templates: dict[str, Template] = {}
        self._constant: dict[tuple[str, str], Quoted] = {}
        self._fingerprints: dict[tuple[str, ...], str] = {}

    def names(self) -> list[str]:
        """Names of all templates, sorted."""
        return sorted(name.removesuffix(".j2") for name in self._environment.list_templates(extensions=["j2"]))

    def source(self, name: str) -> str:
        """The text of a template. Raises PromptError naming the ones there are."""
        for folder in self.folders:
            path = folder / f"{name}.j2"
            if path.is_file():
                try:
                    return path.read_text(encoding="utf-8")
                except (OSError, UnicodeDecodeError) as error:
                    raise PromptError(f"{path}: cannot be read as UTF-8 text: {error}") from None
        raise PromptError(f"no prompt {name!r}; there are: {', '.join(self.names())}")

    def fingerprint(self, *names: str) -> str:
        """Hash of the text of templates and of what they include: part of the pin of a metric that rests on them.
        Taken once, for what a run rests on is what it began with."""
        if names not in self._fingerprints:
            self._fingerprints[names] = self._hashed(names)
        return self._fingerprints[names]

    def _hashed(self, names: tuple[str, ...]) -> str:
        whole, waiting, seen = hashlib.sha256(), sorted(names, reverse=True), set[str]()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            text = self.source(name)
            whole.update(f"{name}\0{text}\0".encode())
            waiting.extend(sorted(self._included(name, text), reverse=True))
        return whole.hexdigest()[:32]

    def _included(self, name: str, text: str) -> list[str]:
        try:
            included = list(meta.find_referenced_templates(self._environment.parse(text)))
        except TemplateError as error:
            raise PromptError(f"prompts/{name}.j2: {error}") from error
        if None in included:
            raise PromptError(f"prompts/{name}.j2 includes a file by a variable; name it, so that it can be pinned")
        return [other.removesuffix(".j2") for other in included if other]

    def render(self, name: str, block: str, /, **values: object) -> Quoted:
        """One block of a template, stripped; a block without values is rendered once. Raises PromptError for a missing
        block or a faulty template."""
        if values:
            return self._rendered(name, block, values)
        if (name, block) not in self._constant:
            self._constant[name, block] = self._rendered(name, block, values)
        return self._constant[name, block]

    def _rendered(self, name: str, block: str, values: dict[str, object]) -> Quoted:
        template = self._template(name)
        if block not in template.blocks:
            raise PromptError(f"prompts/{name}.j2 has no block {block!r}")
        try:
            context = template.new_context({**self._globals, **values}, shared=True)
            return Quoted("".join(template.blocks[block](context)).strip())
        except PromptError:
            raise
        except Exception as error:  # it may divide by zero, or recurse: whatever a template does, it is at fault
            raise PromptError(f"prompts/{name}.j2, block {block!r}: {error}") from error

    def _template(self, name: str) -> Template:
        if name not in self._templates:
            self._templates[name] = self._loaded(name)
        return self._templates[name]

    def _loaded(self, name: str) -> Template:
        try:
            return self._environment.get_template(f"{name}.j2")
        except TemplateNotFound:
            raise PromptError(f"no prompt {name!r}; there are: {', '.join(self.names())}") from None
        except (TemplateError, UnicodeDecodeError) as error:
            raise PromptError(f"prompts/{name}.j2: {error}") from error


@lru_cache(maxsize=8)
def prompts_of(folder: Path | None = None) -> Prompts:
    """The templates of a folder, loaded once."""
    return Prompts(folder)
