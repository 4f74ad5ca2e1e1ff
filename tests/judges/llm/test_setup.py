"""From options to a judge: what is presumed, what is stored, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from labeler.assessment.decisions import settle_items
from labeler.errors import NotFoundError, UsageError
from labeler.judges.llm.pool import pool_to_judge
from labeler.judges.llm.session import JudgeLimits
from labeler.judges.llm.setup import LlmOptions, endpoint_of, find_price, make_judge
from labeler.labels import NATIVE, Grade, Outcome
from labeler.providers.budget import Price
from labeler.providers.chat import AnswerMode
from labeler.providers.profiles import Profile, write_profile
from labeler.records import table
from labeler.records.judgments import Judgment, Occasion
from labeler.records.pools import Item
from labeler.records.queries import Query
from labeler.records.scales import AssessorKind
from labeler.records.splits import Split, SplitGroup, SplitMember, SplitPart
from labeler.store.database import Store
from labeler.store.registry import assessor_key, scale_key
from tests.small import pooled


def make(store: Store, **options: object) -> object:
    with store.read() as connection:
        pool = pool_to_judge(connection, "p")
        return make_judge(connection, pool, LlmOptions(**options))  # type: ignore[arg-type]


def test_a_known_model_is_held_to_the_schema_at_temperature_0(
    sqlite_store: Store, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    judge = make(sqlite_store, model="openai/gpt-4o-mini")
    assert judge.mode is AnswerMode.JSON_SCHEMA  # type: ignore[attr-defined]
    assert judge.parameters == {  # type: ignore[attr-defined]
        "max_tokens": 800,
        "temperature": 0.0,
        "logprobs": True,
        "top_logprobs": 5,
    }


def test_a_reasoning_model_gets_no_temperature_and_no_log_probabilities(
    sqlite_store: Store, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    judge = make(sqlite_store, model="openai/o3-mini")
    assert judge.parameters == {"max_tokens": 800}  # type: ignore[attr-defined]


def test_what_doctor_found_out_counts(sqlite_store: Store, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    found = Profile(AnswerMode.TEXT, logprobs=False, temperature=False, origin="probed")
    with sqlite_store.work() as connection:
        write_profile(connection, "openai/gpt-4o-mini", None, found, sqlite_store.clock())
    judge = make(sqlite_store, model="openai/gpt-4o-mini")
    assert judge.mode is AnswerMode.TEXT  # type: ignore[attr-defined]
    assert judge.parameters == {"max_tokens": 800}  # type: ignore[attr-defined]


def test_samples_are_drawn_at_temperature_1(sqlite_store: Store, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    judge = make(sqlite_store, model="openai/gpt-4o-mini", samples=3)
    assert judge.parameters["temperature"] == 1.0  # type: ignore[attr-defined]


def test_the_name_tells_model_and_prompt_and_the_digest_everything(
    sqlite_store: Store, tmp_path: Path
) -> None:
    pooled(sqlite_store, tmp_path)
    plain = make(sqlite_store, model="openai/gpt-4o-mini")
    other = make(sqlite_store, model="openai/gpt-4o-mini", max_output_tokens=900)
    assert plain.name == other.name == "openai/gpt-4o-mini+direct"  # type: ignore[attr-defined]
    assert plain.digest != other.digest  # type: ignore[attr-defined]


def test_an_address_with_a_password_is_refused() -> None:
    with pytest.raises(UsageError, match="password"):
        endpoint_of("openai/x", "https://me:secret@host/v1", {})


def test_the_address_of_the_environment_is_made_explicit() -> None:
    environment = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1/"}
    assert endpoint_of("openai/x", None, environment) == "http://127.0.0.1:1/v1"
    assert endpoint_of("ollama/x", None, environment) is None


def test_prices() -> None:
    assert find_price("openai/gpt-4o-mini", "1,2") == Price(1e-6, 2e-6)
    assert find_price("openai/nobody-knows", None) is None
    assert find_price("embedded/gemma-3-270m", None) == Price(0.0, 0.0)
    known = find_price("openai/gpt-4o-mini", None)
    assert known is not None
    assert known.batch == pytest.approx(0.5)


def test_a_limit_on_cost_needs_a_price() -> None:
    with pytest.raises(UsageError) as raised:
        JudgeLimits(max_cost=1.0)
    assert "--price" in str(raised.value.hint)


# Examples


def split(store: Store, train: set[str]) -> None:
    """Freeze a split with some queries in its train part, and all others in test."""
    with store.write("split") as tx:
        query = table(Query)
        keys = dict(tx.connection.execute(sa.select(query.c.external_id, query.c.id)).all())
        snapshot = tx.connection.execute(sa.text("SELECT max(id) FROM snapshot")).scalar_one()
        values = {"seed": "s", "scheme": "{}", "root_digest": "r", "revision_id": tx.revision_id}
        made = tx.connection.execute(
            sa.insert(table(Split))
            .values(name="one", snapshot_id=snapshot, **values)
            .returning(table(Split).c.id)
        ).scalar_one()
        for number, (name, key) in enumerate(keys.items()):
            part = SplitPart.TRAIN if name in train else SplitPart.TEST
            group = tx.connection.execute(
                sa.insert(table(SplitGroup))
                .values(split_id=made, number=number, part=part.value, digest="d")
                .returning(table(SplitGroup).c.id)
            ).scalar_one()
            tx.connection.execute(
                sa.insert(table(SplitMember)).values(group_id=group, query_id=key)
            )


def vote_on_all(store: Store) -> None:
    """Let a person vote on every item, the level by the item's number."""
    with store.write("votes") as tx:
        person = assessor_key(tx, AssessorKind.PERSON, "ana")
        _, levels = scale_key(tx, NATIVE)
        items = [int(key) for (key,) in tx.connection.execute(sa.select(table(Item).c.id))]
        rows = [
            {
                "item_id": item,
                "assessor_id": person,
                "outcome": Outcome.JUDGED.value,
                "level_id": levels[item % 3],
                "request_digest": f"vote-{item}",
                "occasion": Occasion.FIRST.value,
                "judged_at": store.clock(),
                "revision_id": tx.revision_id,
            }
            for item in items
        ]
        tx.connection.execute(sa.insert(table(Judgment)), rows)
        settle_items(tx, items)


def test_examples_without_a_frozen_split_are_refused(sqlite_store: Store, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    with pytest.raises(NotFoundError) as raised:
        make(sqlite_store, model="openai/gpt-4o-mini", examples=2)
    assert "no frozen split" in raised.value.message
    assert "labeler split" in str(raised.value.hint)


def test_examples_that_nobody_decided_are_refused(sqlite_store: Store, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    split(sqlite_store, {"q1"})
    with pytest.raises(NotFoundError, match="people decided no item"):
        make(sqlite_store, model="openai/gpt-4o-mini", examples=2)


def test_examples_come_from_train_queries_alone(sqlite_store: Store, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    split(sqlite_store, {"q1", "q2"})
    vote_on_all(sqlite_store)
    judge = make(sqlite_store, model="openai/gpt-4o-mini", examples=6)
    examples = judge.examples  # type: ignore[attr-defined]
    assert len(examples) == 6
    assert {one.query.text for one in examples} == {"returns within 30 days", "reset the router"}
    assert {one.level.grade for one in examples} == set(Grade)


def test_the_choice_does_not_depend_on_when_it_is_made(sqlite_store: Store, tmp_path: Path) -> None:
    pooled(sqlite_store, tmp_path)
    split(sqlite_store, {"q1", "q2"})
    vote_on_all(sqlite_store)
    first, second = (make(sqlite_store, model="openai/gpt-4o-mini", examples=3) for _ in "ab")
    assert first.digest == second.digest  # type: ignore[attr-defined]
