"""Raw signals as columns: absent stays absent, and the answer that counts is the latest one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from labeler.assessment.pool_signals import JudgeSignals, PoolSignals, read_pool_signals
from labeler.assessment.verdict import CIRCULAR
from labeler.labels import Grade, Outcome
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.store.database import Store
from tests.small import HandJudge, judge, pooled

FULLY, PARTIALLY, NOT = Grade


def read(store: Store) -> PoolSignals:
    with store.read() as connection:
        return read_pool_signals(connection, 1)


def of(signals: PoolSignals, judge_name: str = "by-hand") -> JudgeSignals:
    (found,) = [one for one in signals.judges if one.name == judge_name]
    return found


def row_of(signals: PoolSignals, passage: str) -> int:
    (place,) = [n for n, text in enumerate(signals.passages) if text.split()[1:2] == [passage]]
    return place


@pytest.fixture
def pool(sqlite_store: Store, own_folder: Path) -> Store:
    pooled(sqlite_store, own_folder)
    return sqlite_store


def test_what_a_judge_says_stands_in_columns(store: Store, own_folder: Path) -> None:
    pooled(store, own_folder)
    answers: dict[str, tuple[Grade | Outcome, float]] = {
        "c03": (FULLY, 0.7),
        "c08": (PARTIALLY, 0.6),
        "c07": (Outcome.ABSTAINED, 0.0),
    }
    judge(store, HandJudge(answers, flags={"c03": ("addresses_judge", CIRCULAR)}))
    signals = read(store)
    found = of(signals)
    full, part, none = (row_of(signals, name) for name in ("c03", "c08", "c07"))
    assert (found.level[full], found.grade[full]) == (2.0, 2)
    assert (found.level[part], found.grade[part]) == (1.0, 1)
    assert np.isnan(found.level[none])
    assert found.grade[none] == -1
    assert found.signals["confidence"][full] == 0.7
    assert np.isnan(found.signals["confidence"][none])
    # A flag that isn't set is a no; what marks the judging alone is no signal of the item.
    assert found.signals["flag addresses_judge"][[full, part, none]].tolist() == [1, 0, 0]
    assert f"flag {CIRCULAR}" not in found.signals
    # The grades that it left out share what it left.
    assert found.probabilities[full] == pytest.approx([0.15, 0.15, 0.7])
    assert signals.scales[found.scale_id] == (0, 1, 2)


def test_items_stand_in_their_order_with_their_texts(pool: Store) -> None:
    judge(pool, HandJudge())
    signals = read(pool)
    assert signals.item_ids.tolist() == sorted(signals.item_ids.tolist())
    assert set(signals.query_texts.values()) >= {"reset the router"}
    place = row_of(signals, "c07")
    assert signals.query_texts[int(signals.queries[place])] == "reset the router"
    # An item without a text is there, and has none.
    assert "" in signals.passages


def test_of_two_versions_the_one_that_answered_last_counts(pool: Store) -> None:
    judge(pool, HandJudge({"c03": (FULLY, 0.9)}))
    judge(pool, HandJudge({"c03": (NOT, 0.8)}, version="2"))
    signals = read(pool)
    assert [one.name for one in signals.judges] == ["by-hand"]
    assert of(signals).grade[row_of(signals, "c03")] == 0


def test_samples_are_taken_together(pool: Store) -> None:
    judge(pool, HandJudge({"c03": (FULLY, 0.9), "c08": (FULLY, 0.5)}))
    signals = read(pool)
    item = int(signals.item_ids[row_of(signals, "c03")])
    other = int(signals.item_ids[row_of(signals, "c08")])
    judgment = table(Judgment)
    with pool.write("judge run p") as tx:
        rows = [
            dict(row)
            for row in tx.connection.execute(
                sa.select(judgment).where(judgment.c.item_id.in_([item, other]))
            ).mappings()
        ]
        levels = [row["level_id"] for row in rows]
        none = tx.connection.execute(
            sa.select(judgment.c.level_id).where(judgment.c.level_id.not_in(levels)).limit(1)
        ).scalar_one()
        for row in rows:
            for sample in (1, 2):
                again = {**row, "sample": sample, "revision_id": tx.revision_id}
                again.pop("id")
                if row["item_id"] == item and sample == 2:
                    again["level_id"] = none
                tx.connection.execute(sa.insert(judgment).values(**again))
    signals = read(pool)
    found = of(signals)
    split, agreed = row_of(signals, "c03"), row_of(signals, "c08")
    assert found.level[[split, agreed]].tolist() == [pytest.approx(4 / 3), 2.0]
    assert found.grade[[split, agreed]].tolist() == [2, 2]
    assert found.signals["agreement of samples"][split] == pytest.approx(2 / 3)
    assert found.signals["agreement of samples"][agreed] == 1.0


def test_a_judge_that_only_failed_is_no_judge(pool: Store) -> None:
    names = {f"c{number:02d}": (Outcome.FAILED, 0.0) for number in range(1, 13)}
    judge(pool, HandJudge(names))
    assert read(pool).judges == ()


def test_the_digest_is_of_everything_that_was_read(pool: Store) -> None:
    judge(pool, HandJudge({"c03": (FULLY, 0.9)}))
    first = read(pool)
    assert read(pool).digest == first.digest
    judge(pool, HandJudge({"c03": (FULLY, 0.8)}, version="2"))
    assert read(pool).digest != first.digest
