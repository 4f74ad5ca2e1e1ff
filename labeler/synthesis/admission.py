"""Accepted questions become queries: of origin synthetic, in the split group of their source.

What a person wrote anew is another wording: it goes through the filters again, so that nothing
changes a question after its last filter.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa

from labeler.records import table
from labeler.records.corpus import ChunkEvidence, Evidence
from labeler.records.queries import Origin, Query, QueryVersion
from labeler.records.questions import (
    FindingOutcome,
    Question,
    QuestionEventKind,
    QuestionKind,
    QuestionQuery,
)
from labeler.records.runs import Hit, Role, Run, RunQuery
from labeler.sealing.split_in_force import NewMember, append_members
from labeler.store.bulk import intern, is_one_of
from labeler.store.database import Store, WriteTransaction
from labeler.store.registry import store_texts, text_digest
from labeler.synthesis.answers import Draft
from labeler.synthesis.filters import examine
from labeler.synthesis.measuring import DEPTH
from labeler.synthesis.reading import QuestionState, Stands, question_states
from labeler.synthesis.setup import Ground
from labeler.synthesis.store import store_findings, thresholds_in_force

__all__ = ["SINGLE_POSITIVE", "Admitted", "admit"]

SINGLE_POSITIVE = "single-positive"
"""The slice of queries of which one relevant evidence is known because they were made from it."""


@dataclass
class Admitted:
    """What became of accepted questions.

    Attributes:
        queries: Ids of the queries that were made.
        refused: Questions that a person had edited and that a filter turned down, with the reason.
        beyond: How many of the queries found their source beyond the depth of the round trip.
        run: The name of the run that holds what the pack gave for those, or None.
    """

    queries: list[str] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)
    beyond: int = 0
    run: str | None = None


def admit(store: Store, ground: Ground) -> Admitted:
    """Make queries of all questions that are accepted, and wait for no person.

    For a question whose source isn't among the best of the pack, several passages may be relevant:
    what the pack gave is stored as a run, so that a pool takes it up as unknown.
    """
    admitted = Admitted()
    with store.write(f"generate: queries of '{ground.split.name}'") as tx:
        conditions = table(Question).c.split_id == ground.split.id
        states = [
            one
            for one in question_states(tx.connection, conditions)
            if one.stands is Stands.ACCEPTED and one.text is not None
        ]
        passed: list[tuple[QuestionState, str]] = []
        for one in states:
            wording = _wording(one)
            if wording == one.text:
                passed.append((one, wording))
            elif problem := _look_again(tx, ground, one, wording):
                admitted.refused.append((one.question_id, problem))
            else:
                passed.append((one, wording))
        if passed:
            _make_queries(tx, ground, passed, admitted)
    return admitted


def _wording(one: QuestionState) -> str:
    if one.verdict is not None and one.verdict.kind is QuestionEventKind.EDIT and one.verdict.text:
        return one.verdict.text
    return one.text or ""


def _look_again(tx: WriteTransaction, ground: Ground, one: QuestionState, wording: str) -> str:
    """Put a person's wording through the filters; give what turned it down, or nothing.

    How sure a model was of its own words says nothing of a person's, and stays unmeasured; so does
    whether it can be answered, which the person has just said.
    """
    sources = [source.chunk for source in one.sources]
    if any(name not in ground.pack.by_chunk for name in sources):
        return "a source is no longer safe to use"
    measuring = ground.measuring
    own = f"question {one.question_id}"
    measuring.known.forget(own)
    spans = tuple(source.evidence for source in one.sources)
    measured = measuring.measure(
        Draft(wording, spans if all(spans) else ()),
        one.kind,
        sources,
        language=one.language or "",
        is_embedded=False,
        log_probability=None,
        asked_judge=0.0 if one.kind is QuestionKind.UNANSWERABLE else 1.0,
    )
    findings = examine(measured.candidate, thresholds_in_force(tx.connection, one.generator))
    text_id = store_texts(tx.connection, [wording])[wording]
    store_findings(tx, one.question_id, text_id, findings)
    failed = [each for each in findings if each.outcome is FindingOutcome.FAILED]
    if not failed:
        measuring.known.add(own, wording, measured.vector)
    return "; ".join(f"{each.name}: {each.detail}" for each in failed)


def _make_queries(
    tx: WriteTransaction,
    ground: Ground,
    passed: Sequence[tuple[QuestionState, str]],
    admitted: Admitted,
) -> None:
    names = {one.question_id: f"gen-{one.digest[:12]}" for one, _ in passed}
    keys = intern(tx.connection, table(Query), list(names.values()))
    texts = store_texts(tx.connection, {wording for _, wording in passed})
    evidence = _evidence_of(
        tx, ground, [source.chunk for one, _ in passed for source in one.sources]
    )
    members: list[NewMember] = []
    for one, wording in passed:
        name = names[one.question_id]
        _insert_version(tx, ground, one, wording, keys[name], texts[wording], evidence)
        tx.connection.execute(
            sa.insert(table(QuestionQuery)).values(
                question_id=one.question_id,
                query_id=keys[name],
                text_id=texts[wording],
                revision_id=tx.revision_id,
            )
        )
        members.append(
            NewMember(one.group_id, f"query:{name}", text_digest(wording), query_id=keys[name])
        )
        admitted.queries.append(name)
    append_members(tx, ground.split, members)
    beyond = {keys[names[one.question_id]]: wording for one, wording in passed if _is_beyond(one)}
    admitted.beyond = len(beyond)
    if beyond:
        admitted.run = _store_round_trip(tx, ground, beyond)


def _is_beyond(one: QuestionState) -> bool:
    return any(each.name == "round-trip" and each.detail for each in one.findings)


def _evidence_of(
    tx: WriteTransaction, ground: Ground, chunks: Sequence[str]
) -> Mapping[str, list[str]]:
    """Give the ids of the evidence that each chunk carries."""
    carries, evidence = table(ChunkEvidence), table(Evidence)
    by_key = {ground.keys[name].chunk_id: name for name in chunks if name in ground.keys}
    statement = (
        sa.select(carries.c.chunk_id, evidence.c.external_id)
        .join(evidence, evidence.c.id == carries.c.evidence_id)
        .where(
            carries.c.snapshot_id == ground.split.snapshot_id,
            is_one_of(tx.connection, carries.c.chunk_id, sorted(by_key)),
        )
        .order_by(evidence.c.external_id)
    )
    found: dict[str, list[str]] = {}
    for chunk, name in tx.connection.execute(statement):
        found.setdefault(by_key[chunk], []).append(name)
    return found


def _insert_version(
    tx: WriteTransaction,
    ground: Ground,
    one: QuestionState,
    wording: str,
    query_id: int,
    text_id: int,
    evidence: Mapping[str, list[str]],
) -> None:
    """Append the first version of a query."""
    required: list[list[str]] = []
    if one.kind is not QuestionKind.UNANSWERABLE:
        required = [evidence[source.chunk] for source in one.sources if source.chunk in evidence]
    marks = [SINGLE_POSITIVE] if len(required) == 1 else []
    slices = sorted([*marks, "generated", f"generated-{one.kind.value}"])
    source = one.sources[0].chunk
    keys = {}
    if source in ground.pack.by_chunk:
        keys["source_document"] = ground.pack.by_chunk[source].document
    conditions = json.loads(one.conditions)
    content = [
        *(wording, None, one.domain, one.language, slices, 1.0, Origin.SYNTHETIC.value),
        *(sorted(conditions.items()), sorted(keys.items()), required),
    ]
    tx.connection.execute(
        sa.insert(table(QueryVersion)).values(
            query_id=query_id,
            version=1,
            text_id=text_id,
            domain=one.domain,
            language=one.language,
            slices=_json(slices),
            weight=1.0,
            origin=Origin.SYNTHETIC.value,
            conditions=one.conditions,
            group_keys=_json(keys),
            required_evidence=_json(required),
            digest=hashlib.sha256(json.dumps(content).encode()).hexdigest(),
            revision_id=tx.revision_id,
        )
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _store_round_trip(tx: WriteTransaction, ground: Ground, queries: Mapping[int, str]) -> str:
    """Store what the pack gives for queries as a run, best first, and give its name."""
    name = f"generate-round-trip-{tx.revision_id}"
    engine = "bm25" if ground.measuring.embedder is None else "bm25+embedding"
    found = {key: ground.measuring.search(wording) for key, wording in queries.items()}
    content = json.dumps([ground.pack.digest, engine, sorted(found.items())])
    statement = sa.insert(table(Run)).values(
        snapshot_id=ground.split.snapshot_id,
        name=name,
        role=Role.VARIANT.value,
        corpus_config=f"safe pack {ground.pack.digest[:16]}",
        retrieval_config=engine,
        digest=hashlib.sha256(content.encode()).hexdigest(),
        revision_id=tx.revision_id,
    )
    run_id = int(tx.connection.execute(statement.returning(table(Run).c.id)).scalar_one())
    for key, chunks in found.items():
        tx.connection.execute(
            sa.insert(table(RunQuery)).values(
                run_id=run_id, query_id=key, returned=len(chunks), candidate_depth=DEPTH
            )
        )
        for rank, chunk in enumerate(chunks, 1):
            tx.connection.execute(
                sa.insert(table(Hit)).values(
                    run_id=run_id,
                    query_id=key,
                    rank=rank,
                    chunk_id=ground.keys[chunk].chunk_id,
                    score=1.0 / rank,
                    stated_rank=rank,
                )
            )
    return name
