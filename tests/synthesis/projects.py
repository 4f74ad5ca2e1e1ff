"""Small projects with a frozen split for the tests of generated questions."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.providers.budget import Price
from labeler.providers.chat import AnswerMode
from labeler.records.questions import QuestionKind
from labeler.store.database import Store
from labeler.synthesis.limits import GenerateLimits
from labeler.synthesis.rendering import Model
from labeler.synthesis.setup import GenerateOptions
from tests.freezing import Groups, freeze


def words(seed: object, count: int) -> str:
    """Make up a text of words that stand in no other text."""
    chance = random.Random(str(seed))  # noqa: S311 - repeatable, not secret
    letters = "bcdfghklmnprstvz"
    made = [
        "".join(chance.choice(letters) + chance.choice("aeiou") for _ in range(4))
        for _ in range(count)
    ]
    return " ".join(made)


def write_lines(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def fill(
    store: Store,
    folder: Path,
    documents: Mapping[str, Sequence[str]],
    groups: Groups,
    queries: Mapping[str, str] | None = None,
    facts: Mapping[str, object] | None = None,
) -> None:
    """Import documents with their chunks' texts, and queries, and freeze the groups."""
    rows = [
        {
            "_id": f"{name}#{place}",
            "text": text,
            "document": name,
            "domain": "support",
            **(facts or {}),
        }
        for name, texts in documents.items()
        for place, text in enumerate(texts)
    ]
    import_corpus(store, [write_lines(folder / "c.jsonl", rows)], CorpusOptions(snapshot="s"))
    if queries:
        asked = [{"_id": name, "text": text} for name, text in queries.items()]
        import_queries(store, [write_lines(folder / "q.jsonl", asked)], QueryOptions())
    freeze(store, groups)


def plain_project(store: Store, folder: Path, safe: int = 8, sealed: int = 3) -> None:
    """Fill a project: documents of two chunks, so many in train and so many sealed."""
    names = [f"safe{n}" for n in range(safe)] + [f"sealed{n}" for n in range(sealed)]
    documents = {name: [words((name, place), 40) for place in range(2)] for name in names}
    groups: Groups = {
        number: ("test" if name.startswith("sealed") else "train", [name], [])
        for number, name in enumerate(names)
    }
    fill(store, folder, documents, groups)


def asking(
    address: str,
    scenario: str = "asks",
    *,
    judge: str | None = None,
    kinds: tuple[QuestionKind, ...] = (QuestionKind.FACTUAL,),
    per_domain: int = 4,
    max_cost: float | None = None,
    most: int = 4,
    review_share: float = 0.0,
) -> GenerateOptions:
    """Make options that ask the fake provider."""
    price = Price(1e-6, 1e-6)
    parameters = {"temperature": 0.0}
    return GenerateOptions(
        generator=Model(f"openai/{scenario}", AnswerMode.JSON_SCHEMA, parameters, address),
        judge=None
        if judge is None
        else Model(f"openai/{judge}", AnswerMode.JSON_SCHEMA, parameters, address),
        per_domain=per_domain,
        kinds=kinds,
        review_share=review_share,
        limits=GenerateLimits(
            max_concurrency=most,
            max_cost=max_cost,
            price=price,
            judge_price=price,
            price_is_given=True,
            attempts=2,
        ),
    )
