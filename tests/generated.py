"""Generated questions for tests of how people decide them: records as a generator leaves them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.records import table
from labeler.records.corpus import SnapshotChunk
from labeler.records.ledger import Job, JobState
from labeler.records.questions import Question, QuestionDraw, QuestionKind, QuestionSource
from labeler.records.scales import AssessorKind
from labeler.records.splits import Split, SplitGroup, SplitPart
from labeler.store.database import Store, WriteTransaction
from labeler.store.registry import assessor_key, store_texts
from tests.small import write_jsonl


@dataclass(frozen=True)
class Made:
    """A question as a generator made it, with one passage for each source.

    Attributes:
        text: The question.
        passages: What it was made from, each with its evidence in brackets ``[[`` and ``]]``.
        kind: What sort it is.
        answer: The answer, or None.
        domain: Its domain.
        conditions: Canonical JSON.
        persona: Who asks.
        title: The title of each passage.
    """

    text: str
    passages: Sequence[str]
    kind: QuestionKind = QuestionKind.FACTUAL
    answer: str | None = None
    domain: str | None = "hr"
    conditions: str = "{}"
    persona: str | None = None
    title: str | None = None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _added(tx: WriteTransaction, record: type[Any], **values: object) -> int:
    into = table(record)
    statement = sa.insert(into).values(**values).returning(into.c.id)
    return int(tx.connection.execute(statement).scalar_one())


def add_questions(store: Store, folder: Path, made: Sequence[Made]) -> list[int]:
    """Import the passages, and store the questions as ones that wait for people; give their keys.

    Returns:
        The keys of the questions, in their order.
    """
    plain = [[one.replace("[[", "").replace("]]", "") for one in each.passages] for each in made]
    rows: list[dict[str, object]] = [
        {"_id": f"g{number}-{place}", "text": text}
        | ({"title": made[number].title} if made[number].title else {})
        for number, texts in enumerate(plain)
        for place, text in enumerate(texts)
    ]
    corpus = write_jsonl(folder / "generated.jsonl", rows)
    snapshot = "questions"
    import_corpus(store, [corpus], CorpusOptions(snapshot=snapshot))
    with store.write("test") as tx:
        return _questions(tx, made, plain)


def _questions(
    tx: WriteTransaction, made: Sequence[Made], plain: Sequence[Sequence[str]]
) -> list[int]:
    chunk = table(SnapshotChunk)
    chunks = list(tx.connection.execute(sa.select(chunk).order_by(chunk.c.chunk_id)))
    by_text = {int(row.text_id): row for row in chunks}
    made_by = tx.revision_id
    split = _added(
        tx,
        Split,
        name="first",
        snapshot_id=chunks[0].snapshot_id,
        seed="s",
        scheme="{}",
        root_digest="0" * 64,
        revision_id=made_by,
    )
    group = _added(
        tx, SplitGroup, split_id=split, number=0, part=SplitPart.TRAIN.value, digest="0" * 64
    )
    generator = assessor_key(tx, AssessorKind.LLM, "secret-generator", "1" * 64)
    job = _added(
        tx,
        Job,
        kind="generate",
        digest="2" * 64,
        state=JobState.DONE.value,
        total=1,
        done=1,
        failed=0,
        started_at=tx.clock(),
        updated_at=tx.clock(),
    )
    keys = []
    for number, one in enumerate(made):
        said = store_texts(tx.connection, [one.text, *([one.answer] if one.answer else [])])
        key = _added(
            tx,
            Question,
            digest=_digest(f"{number} {one.text}"),
            split_id=split,
            group_id=group,
            part=SplitPart.TRAIN.value,
            kind=one.kind.value,
            text_id=said[one.text],
            answer_id=said[one.answer] if one.answer else None,
            domain=one.domain,
            language="en",
            persona=one.persona,
            conditions=one.conditions,
            assessor_id=generator,
            job_id=job,
            prompt_digest="3" * 64,
            request_digest=_digest(f"request {number}"),
            made_at=tx.clock(),
            revision_id=made_by,
        )
        texts = store_texts(tx.connection, plain[number])
        for place, (marked, text) in enumerate(zip(one.passages, plain[number], strict=True)):
            row = by_text[texts[text]]
            start, end = marked.find("[["), marked.find("]]") - 2
            _added(
                tx,
                QuestionSource,
                question_id=key,
                place=place,
                document_id=row.document_id,
                chunk_id=row.chunk_id,
                text_id=row.text_id,
                window_start=start if start >= 0 else None,
                window_end=end if start >= 0 else None,
            )
        _added(
            tx, QuestionDraw, question_id=key, stratum="all", probability=0.5, revision_id=made_by
        )
        keys.append(key)
    return keys


LEAVE = (
    Made(
        "How many unused vacation days may an employee carry over?",
        [
            (
                "Holidays are requested two weeks ahead. [[Employees may carry over up to five "
                "unused vacation days into the next calendar year]] with approval."
            )
        ],
        answer="up to five",
        title="Staff handbook: leave",
    ),
    Made(
        "What holds for contractors in Germany when leave is unused?",
        ["Contractors: [[unused leave is paid out at the end of the contract]], and that is all."],
        kind=QuestionKind.CONDITIONAL,
        conditions='{"audience": "contractors", "region": "DE"}',
        persona="a contractor",
    ),
    Made(
        "Is sick leave handled as parental leave is?",
        [
            "[[Who falls ill gets those days back]], with a certificate of a doctor.",
            "[[Parents tell the office three months ahead]]; the works council is told first.",
        ],
        kind=QuestionKind.COMPARISON,
    ),
    Made("Which is the best router?", ["Hold the reset button for ten seconds until it blinks."]),
)
"""Four questions about leave, the last without evidence."""
