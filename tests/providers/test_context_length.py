from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from labeler.providers.context_length import context_at, context_in_error, context_in_table


@contextmanager
def serving(answers: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """Serve JSON, or a redirect where the answer is a text; notes the paths and keys that came."""
    came: list[tuple[str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            came.append((self.path, self.headers["Authorization"]))
            answer = answers.get(self.path)
            if isinstance(answer, str):
                self.send_response(302)
                self.send_header("Location", answer)
                self.end_headers()
                return
            self.send_response(404 if answer is None else 200)
            self.end_headers()
            self.wfile.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", came
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def models(*entries: Mapping[str, Any]) -> dict[str, Any]:
    return {"/v1/models": {"object": "list", "data": list(entries)}}


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (models({"id": "org/m", "max_model_len": 8192}), 8192),
        (models({"id": "org/m", "context_length": 131_072}), 131_072),
        (models({"id": "other", "max_model_len": 1}, {"id": "org/m", "context_window": 7}), 7),
        # The only model of a server is the one meant, whatever it is called there.
        (models({"id": "/weights/m.gguf", "max_model_len": 4096}), 4096),
        (models({"id": "a", "max_model_len": 1}, {"id": "b", "max_model_len": 2}), None),
        (models({"id": "org/m", "max_model_len": "long"}), None),
        (models({"id": "org/m", "max_model_len": True}), None),
        ({"/props": {"default_generation_settings": {"n_ctx": 4096}}}, 4096),
        ({"/props": {"n_ctx": 2048}}, 2048),
        # How long it was in training says nothing about how it is served.
        (
            models({"id": "org/m", "meta": {"n_ctx_train": 131_072}})
            | {"/props": {"default_generation_settings": {"n_ctx": 512}}},
            512,
        ),
        ({}, None),
        ({"/v1/models": b"\xff not JSON", "/props": [1]}, None),
        ({"/v1/models": {"data": {"id": "org/m"}}, "/props": {"n_ctx": 0}}, None),
    ],
)
def test_what_servers_tell(answers: Mapping[str, Any], expected: int | None) -> None:
    with serving(answers) as (address, _):
        found = context_at(address, "hosted_vllm/org/m")
    assert (found and found[0]) == expected


def test_the_key_goes_where_requests_go_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with serving(models({"id": "m", "max_model_len": 9})) as (elsewhere, there):
        listed = {"/v1/models": f"{elsewhere}/models", "/props": {"n_ctx": 5}}
        with serving(listed) as (address, came):
            assert context_at(address, "openai/m") == (5, "n_ctx in the server's /props")
            context_at(address, "hosted_vllm/m")
            context_at(address, "m")
    assert there == []
    assert came == [
        ("/v1/models", "Bearer sk-secret"),
        ("/props", "Bearer sk-secret"),
        *[("/v1/models", None), ("/props", None)] * 2,
    ]


def test_only_web_addresses_are_read(tmp_path: Any) -> None:
    (tmp_path / "models").write_text('{"data": [{"id": "m", "max_model_len": 9}]}')
    assert context_at(f"file://{tmp_path}", "openai/m") is None
    assert context_at("http://127.0.0.1:1/v1", "openai/m") is None


@pytest.mark.parametrize(
    ("model", "expected"),
    [("openai/m", 100), ("m", 100), ("hosted/n", 50), ("openai/none", None), ("a/b/c", None)],
)
def test_the_table_knows_models_with_and_without_provider(model: str, expected: int | None) -> None:
    known = {"m": {"max_input_tokens": 100}, "hosted/n": {"max_input_tokens": 50}, "none": {}}
    assert context_in_table(model, known) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("This model's maximum context length is 8192 tokens. However, your messages", 8192),
        ("the request exceeds the available context size (4096 tokens), try increasing it", 4096),
        ('{"type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":512}', 512),
        ("the prompt has 5000 tokens, the model's context holds 4096", 4096),
        ("prompt is too long: 210000 tokens > 200000 maximum", None),
        ("", None),
    ],
)
def test_the_length_in_an_error(message: str, expected: int | None) -> None:
    assert context_in_error(message) == expected
