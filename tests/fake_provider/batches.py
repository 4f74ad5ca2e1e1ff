"""Files and batches: uploaded, validated, in progress for some polls, then ended.

How a batch ends is told by the model of its lines: ``batch-expired``, ``batch-failed`` (it does
not pass validation), ``batch-stuck`` (never ends), ``batch-partial`` (a line has neither an answer
nor an error), ``batch-lost`` (the batch is made, and the connection closed before its id is told).
Lines of any other model are answered as its scenario says, each failure in the error file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.fake_provider.answers import CREATED, Payload
from tests.fake_provider.scenarios import Reply
from tests.fake_provider.settings import Settings
from tests.fake_provider.wire import DROP, HttpAnswer, HttpRequest, read_form

RunLine = Callable[[dict[str, Any], str], Reply]
_DAY = 86_400
_ENDED = ("completed", "failed", "expired", "cancelled")


def _refused(status: int, message: str, param: str | None = None) -> HttpAnswer:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": None}
    return HttpAnswer(status, {"error": error})


@dataclass(slots=True)
class Batch:
    """One batch and how far it is."""

    number: int
    authorization: str
    asked: dict[str, Any]
    lines: list[dict[str, Any]]
    problem: Payload | None = None
    """Why it does not pass validation."""
    status: str = "validating"
    polls: int = 0
    output: str | None = None
    errors: str | None = None
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The provider's name for the batch."""
        return f"batch_{self.number:08d}"

    @property
    def model(self) -> str:
        """The model of its lines."""
        return str(self.lines[0]["body"].get("model", "")) if self.lines else ""

    def as_json(self) -> Payload:
        """Give the batch as the interface shows it."""
        found = {
            "id": self.id,
            "object": "batch",
            "endpoint": self.asked["endpoint"],
            "errors": None,
            "input_file_id": self.asked["input_file_id"],
            "completion_window": self.asked["completion_window"],
            "status": self.status,
            "output_file_id": self.output,
            "error_file_id": self.errors,
            "created_at": CREATED + self.number,
            "expires_at": CREATED + self.number + _DAY,
            "request_counts": {"total": len(self.lines), "completed": 0, "failed": 0} | self.counts,
            "metadata": self.asked.get("metadata"),
        }
        if self.status == "failed":
            found["errors"] = {"object": "list", "data": [self.problem]}
        if self.status in _ENDED:
            found[f"{self.status}_at"] = CREATED + self.number + 1
        return found


@dataclass(slots=True)
class Shelf:
    """The files and batches that a provider holds."""

    files: dict[str, tuple[Payload, bytes]] = field(default_factory=dict)
    batches: dict[str, Batch] = field(default_factory=dict)

    def answer(self, request: HttpRequest, settings: Settings, run: RunLine) -> HttpAnswer | None:
        """Answer a request about files or batches; None for an address that there is not."""
        match request.method, request.path.removeprefix("/v1/").split("/"):
            case "POST", ["files"]:
                return self._upload(request)
            case "GET", ["files"]:
                described = [about for about, _ in reversed(self.files.values())]
                return HttpAnswer(200, {"object": "list", "data": described, "has_more": False})
            case method, ["files", name, *rest]:
                return self._file(method, name, rest)
            case "POST", ["batches"]:
                return self._create(request)
            case "GET", ["batches"]:
                return self._list(request)
            case method, ["batches", name, *rest]:
                batch = self.batches.get(name)
                if batch is None:
                    return _refused(404, f"No batch found with id '{name}'.")
                if (method, rest) == ("POST", ["cancel"]):
                    return self._cancel(batch)
                if (method, rest) == ("GET", []):
                    self._poll(batch, settings, run)
                    return HttpAnswer(200, batch.as_json())
        return None

    def _upload(self, request: HttpRequest) -> HttpAnswer:
        form = read_form(request)
        if "file" not in form or form.get("purpose", ("", b""))[1] != b"batch":
            return _refused(400, "'file' and the purpose 'batch' are required.", "file")
        name, content = form["file"]
        return HttpAnswer(200, self._store(name, "batch", content))

    def _store(self, name: str, purpose: str, content: bytes) -> Payload:
        number = len(self.files) + 1
        about: Payload = {
            "id": f"file-{number:08d}",
            "object": "file",
            "bytes": len(content),
            "created_at": CREATED + number,
            "filename": name,
            "purpose": purpose,
            "status": "processed",
        }
        self.files[about["id"]] = (about, content)
        return about

    def _file(self, method: str, name: str, rest: list[str]) -> HttpAnswer | None:
        if name not in self.files:
            return _refused(404, f"No such File object: {name}", "id")
        about, content = self.files[name]
        match method, rest:
            case "GET", []:
                return HttpAnswer(200, about)
            case "GET", ["content"]:
                return HttpAnswer(200, raw=content)
            case "DELETE", []:
                # The place stays taken, so that no later file gets the same name.
                self.files[name] = (about | {"status": "deleted"}, b"")
                return HttpAnswer(200, {"id": name, "object": "file", "deleted": True})
        return None

    def _create(self, request: HttpRequest) -> HttpAnswer:
        asked = json.loads(request.body)
        name = asked.get("input_file_id")
        if name not in self.files:
            return _refused(400, f"No such File object: {name}", "input_file_id")
        if asked.get("completion_window") != "24h":
            return _refused(400, "The completion window must be '24h'.", "completion_window")
        lines, problem = _read_lines(self.files[name][1], asked.get("endpoint"))
        authorization = request.headers.get("authorization", "")
        batch = Batch(len(self.batches) + 1, authorization, asked, lines, problem)
        self.batches[batch.id] = batch
        if batch.model == "batch-failed":
            batch.problem = _problem("token_limit_exceeded", "Enqueued token limit reached.")
        lost_before = [one for one in self.batches.values() if one.model == "batch-lost"]
        if batch.model == "batch-lost" and len(lost_before) == 1:
            return DROP
        return HttpAnswer(200, batch.as_json())

    def _list(self, request: HttpRequest) -> HttpAnswer:
        newest = list(reversed(self.batches))
        after = request.query.get("after")
        if after in self.batches:
            newest = newest[newest.index(after) + 1 :]
        limit = int(request.query.get("limit", "20"))
        shown = [self.batches[name].as_json() for name in newest[:limit]]
        page = {
            "object": "list",
            "data": shown,
            "first_id": newest[0] if newest else None,
            "last_id": shown[-1]["id"] if shown else None,
            "has_more": len(newest) > limit,
        }
        return HttpAnswer(200, page)

    def _cancel(self, batch: Batch) -> HttpAnswer:
        if batch.status in _ENDED:
            return _refused(409, f"Cannot cancel a batch with status '{batch.status}'.")
        batch.status = "cancelling"
        return HttpAnswer(200, batch.as_json())

    def _poll(self, batch: Batch, settings: Settings, run: RunLine) -> None:
        """Let a batch go on by one step, as time would."""
        if batch.status in _ENDED:
            return
        if batch.problem is not None:
            batch.status = "failed"
            return
        if batch.status == "cancelling":
            self._end(batch, "cancelled", run)
            return
        batch.polls += 1
        if batch.polls <= settings.batch_polls or batch.model == "batch-stuck":
            batch.status = "in_progress"
        elif batch.model == "batch-expired":
            self._end(batch, "expired", run)
        else:
            self._end(batch, "completed", run)

    def _end(self, batch: Batch, status: str, run: RunLine) -> None:
        """Answer the lines: all, or half where the batch ended before its time."""
        batch.status = status
        whole = status == "completed"
        done = batch.lines if whole else batch.lines[: len(batch.lines) // 2]
        left = batch.lines[len(done) :]
        if batch.model == "batch-partial":
            done = done[1:]
        results = [_result(batch, line, run(line["body"], batch.authorization)) for line in done]
        failed = [one for one in results if not _answered(one)]
        failed += [_unanswered(batch, line, status) for line in left]
        # The order of the lines is not promised, and is never that of the input here.
        answered = [one for one in reversed(results) if _answered(one)]
        batch.counts = {"completed": len(answered), "failed": len(failed)}
        if answered:
            batch.output = self._write(f"{batch.id}_output.jsonl", answered)
        if failed:
            batch.errors = self._write(f"{batch.id}_error.jsonl", failed)

    def _write(self, name: str, lines: Iterable[Payload]) -> str:
        content = "".join(json.dumps(line) + "\n" for line in lines).encode("ascii")
        stored: str = self._store(name, "batch_output", content)["id"]
        return stored


def _answered(result: Payload) -> bool:
    response = result["response"]
    return response is not None and response["status_code"] == 200


def _result(batch: Batch, line: dict[str, Any], reply: Reply) -> Payload:
    """Give the line of the output or error file for a request that was run."""
    name = line["custom_id"]
    found: Payload = {"id": f"batch_req_{batch.number}_{name}", "custom_id": name}
    if reply.does != "send":
        message = "This request could not be executed."
        return found | {"response": None, "error": {"code": "request_failed", "message": message}}
    response = {"status_code": reply.status, "request_id": f"req_{name}", "body": reply.payload}
    return found | {"response": response, "error": None}


def _unanswered(batch: Batch, line: dict[str, Any], status: str) -> Payload:
    """Give the line of the error file for a request that the batch never came to."""
    why = f"batch_{status}"
    message = f"This request could not be executed before the batch {status}."
    error = {"code": why, "message": message}
    name = line["custom_id"]
    return {"id": f"batch_req_{batch.number}_{name}", "custom_id": name} | {
        "response": None,
        "error": error,
    }


def _problem(code: str, message: str, line: int | None = None) -> Payload:
    return {"code": code, "message": message, "line": line, "param": None}


def _read_lines(content: bytes, endpoint: object) -> tuple[list[dict[str, Any]], Payload | None]:
    """Read an input file; give its lines, and the first thing that is wrong with it."""
    lines: list[dict[str, Any]] = []
    seen: set[str] = set()
    models: set[str] = set()
    for number, text in enumerate(content.decode("utf-8").split("\n"), 1):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
            name, model = line["custom_id"], line["body"]["model"]
        except (ValueError, KeyError, TypeError):
            return lines, _problem("invalid_json_line", "A line is not a request.", number)
        models.add(model)
        if line.get("method") != "POST" or line.get("url") != endpoint:
            return lines, _problem("invalid_url", "A line's URL is not the batch's.", number)
        if name in seen:
            return lines, _problem("duplicate_custom_id", "A custom_id comes twice.", number)
        if len(models) > 1:
            return lines, _problem("mismatched_model", "All lines must name one model.", number)
        seen.add(name)
        lines.append(line)
    return lines, None if lines else _problem("empty_file", "The input file is empty.")
