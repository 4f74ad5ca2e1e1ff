"""Further answers of a judge to what it was asked, as `--samples` and `--retry` bring them."""

from __future__ import annotations

import sqlalchemy as sa

from labeler.labels import NATIVE, Grade, Outcome
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.pools import Item
from labeler.records.project import Text
from labeler.records.scales import Assessor
from labeler.store.database import Store
from labeler.store.registry import scale_key, store_texts
from tests.small import HandJudge


def answer_again(
    store: Store, judge: HandJudge, passage: str, *answers: Grade | Outcome, reason: str = ""
) -> None:
    """Append answers of a judge on the items of a passage, to the same requests as before."""
    judgment, item, text, assessor = table(Judgment), table(Item), table(Text), table(Assessor)
    statement = (
        sa.select(judgment)
        .join(item, item.c.id == judgment.c.item_id)
        .join(text, text.c.id == item.c.text_id)
        .join(assessor, assessor.c.id == judgment.c.assessor_id)
        .where(
            text.c.body.like(f"passage {passage} %"),
            assessor.c.name == judge.name,
            assessor.c.digest == judge.digest,
        )
        .order_by(judgment.c.id)
    )
    with store.write("judge run") as tx:
        _, levels = scale_key(tx, NATIVE)
        reason_id = store_texts(tx.connection, [reason])[reason] if reason else None
        latest = {row.item_id: row for row in tx.connection.execute(statement)}
        for row in latest.values():
            for number, answer in enumerate(answers, row.sample + 1):
                level = None if isinstance(answer, Outcome) else NATIVE.level_for(answer)
                values = {
                    **{name: row._mapping[name] for name in judgment.columns.keys()},  # noqa: SIM118 - names
                    "id": None,
                    "outcome": answer.value if isinstance(answer, Outcome) else "judged",
                    "level_id": None if level is None else levels[level.code],
                    "reason_id": reason_id,
                    "sample": number,
                    "revision_id": tx.revision_id,
                }
                tx.connection.execute(
                    sa.insert(judgment).values({k: v for k, v in values.items() if k != "id"})
                )
