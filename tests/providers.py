"""Servers that speak like the well-known ones: what they want, refuse and return, in their own words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from misbehaving import Handler, Reply, Request, answer, chat, error
from scripts import Truth, as_text, request_of

from judgekit.judge import layout
from judgekit.prompts import prompts_of
from judgekit.wire import JudgeRequest

KEY = "the-key-of-the-test"
FILTERED = "Tank 2 "


class Provider(NamedTuple):
    """`path` is the path of the base URL with its query; `format`, `dropped`, `renamed` are what is to be found out."""

    path: str
    model: str
    resolved: str
    handler: Callable[[Truth, Mapping[str, JudgeRequest]], Handler]
    format: str = "json_schema"
    dropped: tuple[str, ...] = ()
    renamed: Mapping[str, str] = {}


def known_requests(asked: Iterable[JudgeRequest]) -> dict[str, JudgeRequest]:
    """Requests by the prompt that a chat model sees of them, for servers that are shown no schema."""
    prompts = prompts_of(None)
    return {json.dumps(layout.messages(prompts, request)): request for request in asked}


def _said(truth: Truth, request: Request) -> str:
    asked = request_of(request.body)
    return as_text(asked, truth.answer(asked))


def _openai(truth: Truth, _known: Mapping[str, JudgeRequest]) -> Handler:
    """A reasoning model at OpenAI: the new name of the limit, no temperature, schemas held to the rules of strict."""

    def handle(request: Request) -> Reply:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return error(401, "Incorrect API key provided.", code="invalid_api_key", type="invalid_request_error")
        if request.path != "/v1/chat/completions":
            return error(404, f"Invalid URL (POST {request.path})", type="invalid_request_error")
        if "max_tokens" in request.body:
            said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'."
            return error(400, said, param="max_tokens", code="unsupported_parameter", type="invalid_request_error")
        if request.body.get("temperature", 1) != 1:
            said = "Unsupported value: 'temperature' does not support 0 with this model."
            return error(400, said, param="temperature", code="unsupported_value", type="invalid_request_error")
        _hold_to_strict(request.body["response_format"]["json_schema"]["schema"])
        return chat(_said(truth, request), model="gpt-5-mini-2025-08-07", fingerprint="fp_44709d6fcb")

    return handle


def _hold_to_strict(schema: Mapping[str, Any]) -> None:
    """Every object closed, with all of its properties required; OpenAI refuses a strict schema that is otherwise."""
    if schema.get("type") == "object":
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) == set(schema["properties"])
    for inner in (*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else ())):
        _hold_to_strict(inner)


def _azure(truth: Truth, _known: Mapping[str, JudgeRequest]) -> Handler:
    """A deployment at Azure: its own path, an API version, the key in a header of its own, and a content filter."""

    def handle(request: Request) -> Reply:
        path, _, query = request.path.partition("?")
        if path != "/openai/deployments/our-judge/chat/completions" or query != "api-version=2024-10-21":
            return answer({"error": {"code": "404", "message": "Resource not found"}}, status=404)
        if request.headers.get("api-key") != KEY or "authorization" in request.headers:
            said = "Access denied due to invalid subscription key or wrong API endpoint."
            return answer({"error": {"code": "401", "message": said}}, status=401)
        if FILTERED in json.dumps(request.body["messages"]):
            inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"violence": {"filtered": True}}}
            said = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
            value = {"message": said, "param": "prompt", "code": "content_filter", "status": 400, "innererror": inner}
            return answer({"error": value}, status=400)
        return chat(_said(truth, request), model="gpt-4o-2024-11-20", fingerprint="fp_ee1d74bde0")

    return handle


def _vllm(truth: Truth, _known: Mapping[str, JudgeRequest]) -> Handler:
    """A reasoning model behind vLLM without a reasoning parser: its thinking stands in the content."""

    def handle(request: Request) -> Reply:
        if request.body["model"] != "Qwen/Qwen3-8B":
            said = f"The model `{request.body['model']}` does not exist."
            value = {"object": "error", "message": said, "type": "NotFoundError", "param": None, "code": 404}
            return answer(value, status=404)
        thought = 'Perhaps {"c1": "contradicted"}? The sources say otherwise.\n</think>\n\n'
        return chat(thought + _said(truth, request), model="Qwen/Qwen3-8B")

    return handle


def _ollama(truth: Truth, _known: Mapping[str, JudgeRequest]) -> Handler:
    """Ollama: takes every parameter, gives one fingerprint for all models, and names what it was asked for."""

    def handle(request: Request) -> Reply:
        if request.path != "/v1/chat/completions":
            return Reply(404, b"404 page not found", {"content-type": "text/plain"})
        return chat(f"```json\n{_said(truth, request)}\n```", model="qwen2.5:7b", fingerprint="fp_ollama")

    return handle


def _litellm(truth: Truth, known: Mapping[str, JudgeRequest]) -> Handler:
    """A LiteLLM proxy before a model without structured output: its own words for every refusal, and the alias back."""

    def refusal(words: str) -> Reply:
        said = f"litellm.UnsupportedParamsError: bedrock does not support parameters: {words}. To drop these, set drop"
        return error(400, said, type="None", param="None", code="400")

    def handle(request: Request) -> Reply:
        if "seed" in request.body:
            return refusal("['seed'], for model=anthropic.claude")
        if "response_format" in request.body:
            return refusal("{'response_format': {'type': 'json_schema'}}, for model=anthropic.claude")
        asked = known[json.dumps(request.body["messages"])]
        text = f"Here is my assessment.\n\n{as_text(asked, truth.answer(asked))}\n\nLet me know if you need more."
        return chat(text, model="judge-alias", headers={"x-litellm-model-id": "0a1b"})

    return handle


PROVIDERS = {
    "OpenAI": Provider(
        "/v1",
        "gpt-5-mini",
        "gpt-5-mini-2025-08-07",
        _openai,
        dropped=("temperature",),
        renamed={"max_tokens": "max_completion_tokens"},
    ),
    "Azure OpenAI": Provider(
        "/openai/deployments/our-judge?api-version=2024-10-21", "our-judge", "gpt-4o-2024-11-20", _azure
    ),
    "vLLM": Provider("/v1", "Qwen/Qwen3-8B", "Qwen/Qwen3-8B", _vllm),
    "Ollama": Provider("/v1", "qwen2.5:7b", "qwen2.5:7b", _ollama),
    "LiteLLM": Provider("/v1", "judge-alias", "judge-alias", _litellm, format="text", dropped=("seed",)),
}
