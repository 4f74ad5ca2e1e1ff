"""From a task to the request that is sent: passages travel as data, behind a fence.

A request is a pure function of the pack and the task, so the process that has the database and
the one that has not agree on its digest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from labeler.providers.chat import AnswerMode, ChatRequest, Message
from labeler.providers.prompt_file import fill
from labeler.records.questions import QuestionKind
from labeler.search.words import compatible
from labeler.synthesis.answers import answer_fields, shape_of
from labeler.synthesis.beginnings import beginnings
from labeler.synthesis.language import language_of
from labeler.synthesis.pack import PackChunk, SafePack
from labeler.synthesis.prompts import GeneratePrompt, answerable_prompt, prompt_for
from labeler.synthesis.tasks import QuestionTask
from labeler.synthesis.windows import telling_sentences

__all__ = ["Model", "answerable_request", "question_request"]

_LONGEST_PASSAGE = 6_000
_LONGEST_EMBEDDED = 1_000
_WORDINGS = 5
_ANSWER_TOKENS = 400
_EMBEDDED_TOKENS = 60
_LATER_TEMPERATURE = 0.8
_HOW = {
    AnswerMode.JSON_SCHEMA: "Answer with one JSON object.",
    AnswerMode.TOOLS: "Answer by calling the function that you are given.",
    AnswerMode.TEXT: "Answer with one JSON object and nothing else: no words around it, no fence.",
}
_VIEWS = (
    "",
    " Ask about what stands in the second half of the passage.",
    " Ask about a detail that a first reading passes over.",
    " Ask about what holds only in some cases.",
)


@dataclass(frozen=True)
class Model:
    """A language model as it is asked, to write questions or to check them.

    Attributes:
        name: The model as litellm names it.
        mode: How it is held to the shape of an answer.
        parameters: Parameters of every request, beside the limit on tokens.
        endpoint: The provider's address where it isn't the usual one.
        weights: The digest of engine and weights, where it runs in this machine's processes.
    """

    name: str
    mode: AnswerMode
    parameters: Mapping[str, Any] = field(default_factory=dict)
    endpoint: str | None = None
    weights: str | None = None

    @property
    def is_embedded(self) -> bool:
        """Whether it is the embedded model, which follows no instructions."""
        return self.weights is not None

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides its answers beside prompts, as plain values."""
        return {
            "model": self.name,
            "mode": self.mode.value,
            "parameters": dict(sorted(self.parameters.items())),
            "endpoint": self.endpoint,
            "weights": self.weights,
        }

    @property
    def digest(self) -> str:
        """The SHA-256 of the settings."""
        return hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Write it as plain values."""
        return self.settings

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Model:
        """Read what `to_json` wrote."""
        return cls(
            name=content["model"],
            mode=AnswerMode(content["mode"]),
            parameters=content["parameters"],
            endpoint=content["endpoint"],
            weights=content["weights"],
        )


def question_request(pack: SafePack, task: QuestionTask, model: Model) -> ChatRequest:
    """Make the request that asks for a task's question."""
    prompt = prompt_for(task.kind, embedded=model.is_embedded)
    chunks = [pack.by_chunk[name] for name in task.chunks]
    if model.is_embedded:
        return _embedded_request(prompt, chunks[0], task, model)
    shown = [chunk.text[:_LONGEST_PASSAGE] for chunk in chunks]
    contexts = [_context(chunk) for chunk in chunks]
    wordings = _wordings(pack, chunks[0]) if task.kind is QuestionKind.PARAPHRASE else ""
    conditions = _conditions(chunks[0]) if task.kind is QuestionKind.CONDITIONAL else ""
    persona = f"Whoever asks: {_quoted(task.persona)}\n" if task.persona else ""
    fence = _fence(prompt, [*shown, *contexts, wordings, persona])
    values = {
        "answer": _answer(prompt, model.mode),
        "conditions": conditions,
        "context": contexts[0],
        "fence": fence,
        "language": _language(task, chunks[0]),
        "passage": shown[0],
        "persona": persona,
        "second": shown[-1],
        "second_context": contexts[-1],
        "view": _VIEWS[task.view % len(_VIEWS)],
        "wordings": wordings,
    }
    return _request(prompt, values, model, {"max_tokens": _ANSWER_TOKENS})


def answerable_request(
    pack: SafePack, question: str, chunks: Sequence[str], model: Model
) -> ChatRequest:
    """Make the request that asks whether chunks answer a question."""
    prompt = answerable_prompt()
    shown = [
        (_context(pack.by_chunk[name]), pack.by_chunk[name].text[:_LONGEST_PASSAGE])
        for name in chunks
    ]
    fence = _fence(prompt, [question, *(text for pair in shown for text in pair)])
    values = {
        "answer": _answer(prompt, model.mode),
        "fence": fence,
        "passages": "".join(f"<<<{fence}\n{head}{text}\n{fence}>>>\n" for head, text in shown),
        "question": _quoted(question),
    }
    return _request(prompt, values, model, {"max_tokens": _ANSWER_TOKENS})


def _embedded_request(
    prompt: GeneratePrompt, chunk: PackChunk, task: QuestionTask, model: Model
) -> ChatRequest:
    """Ask a base model, which goes on as the examples did.

    Each view is of another sentence or has another beginning: the same request again would give the
    same question. Where there are no more it begins anew, drawn with a seed.
    """
    examples = "".join(
        f"Title: {title}\nPassage: {passage}\n"
        f"{json.dumps({'question': question}, ensure_ascii=False)}\n\n"
        for title, passage, question in prompt.examples
    )
    views = _embedded_views(chunk)
    shown, beginning = views[task.view % len(views)]
    parameters: dict[str, Any] = {
        "max_tokens": _EMBEDDED_TOKENS,
        "temperature": 0.0,
        "grammar": _grammar(beginning),
    }
    if task.view >= len(views):
        parameters |= {"temperature": _LATER_TEMPERATURE, "seed": task.view}
    values = {
        "context": f"Title: {' '.join(chunk.title.split())}\n" if chunk.title else "",
        "examples": examples,
        "passage": " ".join(shown[:_LONGEST_EMBEDDED].split()),
    }
    # The grammar holds the model to the shape, so nothing else may.
    return _request(prompt, values, replace(model, mode=AnswerMode.TEXT), parameters)


def _embedded_views(chunk: PackChunk) -> list[tuple[str, str]]:
    """List what is shown and how the question begins: sentences that give a beginning first.

    Each sentence comes once before any comes with its second beginning. Then the whole passage and
    the sentences follow without one.
    """
    told = telling_sentences(chunk.text, but=chunk.title or "")
    spoken = chunk.language or language_of(chunk.text) or ""
    ways = [beginnings(one, chunk.title or "") if spoken.startswith("en") else [] for one in told]
    turns = range(max(map(len, ways), default=0))
    begun = [
        (one, way[turn])
        for turn in turns
        for one, way in zip(told, ways, strict=True)
        if turn < len(way)
    ]
    return [*begun, (chunk.text, ""), *((one, "") for one in told if one != chunk.text.strip())]


def _grammar(beginning: str) -> str:
    """Write the grammar of an answer: one question that begins so, and nothing after it."""
    start = json.dumps(f'{{"question": "{beginning}', ensure_ascii=False)
    if not beginning:
        return rf'root ::= {start} [^"\\? \n] [^"\\?？؟\n]+ [?？؟] "\"}}"'
    if beginning.endswith("?"):
        return rf'root ::= {start} "\"}}"'
    return rf'root ::= {start} ( " " [^"\\?\n()]+ )? "?\"}}"'


def _request(
    prompt: GeneratePrompt, values: Mapping[str, str], model: Model, more: Mapping[str, Any]
) -> ChatRequest:
    system = (Message("system", fill(prompt.system, values)),) if prompt.system else ()
    user = fill(prompt.user, values)
    # A base model goes on where the text ends: a line break, as after each example's passage.
    messages = (*system, Message("user", user if prompt.system else user + "\n"))
    return ChatRequest(
        model=model.name,
        messages=messages,
        shape=shape_of(prompt.answer),
        mode=model.mode,
        parameters={**model.parameters, **more},
        endpoint=model.endpoint,
    )


def _answer(prompt: GeneratePrompt, mode: AnswerMode) -> str:
    fields = "\n".join(f"- {one}" for one in answer_fields(prompt.answer))
    return f"{_HOW[mode]} Its fields, in this order:\n{fields}"


def _language(task: QuestionTask, chunk: PackChunk) -> str:
    tag = task.language or chunk.language
    return f"the language with the tag {tag}" if tag else "the language of the passage"


def _context(chunk: PackChunk) -> str:
    known = {
        "title": chunk.title,
        "product": chunk.product,
        "region": chunk.region,
        "in force from": chunk.date,
    }
    pairs = "; ".join(f"{name}: {_quoted(value)}" for name, value in known.items() if value)
    return f"About this text: {pairs}\n" if pairs else ""


def _conditions(chunk: PackChunk) -> str:
    known = {"product": chunk.product, "region": chunk.region, "in force from": chunk.date}
    pairs = "; ".join(f"{name}: {_quoted(value)}" for name, value in known.items() if value)
    return f"Conditions: {pairs}\n"


def _wordings(pack: SafePack, chunk: PackChunk) -> str:
    """Show how people asked: the queries of train and dev that are most like the chunk."""
    found = [name for name, _ in pack.wordings.search(chunk.text, _WORDINGS)]
    names = [*found, *(one.query for one in pack.queries if one.query not in found)][:_WORDINGS]
    lines = "".join(f"- {_quoted(pack.by_query[name].text)}\n" for name in names)
    return f"What people searched for here before:\n{lines}\n"


def _quoted(text: str) -> str:
    """Put a text on one line in quotes that it can't close."""
    return json.dumps(text, ensure_ascii=False)


def _fence(prompt: GeneratePrompt, texts: Sequence[str]) -> str:
    """Choose a mark that stands in none of the texts, the same one wherever it can be."""
    folded = [compatible(text).casefold() for text in texts]
    number = 0
    while True:
        seed = f"{prompt.digest}\n{number}"
        fence = f"TEXT-{hashlib.sha256(seed.encode()).hexdigest()[:10]}"
        if not any(fence.casefold() in text for text in folded):
            return fence
        number += 1
