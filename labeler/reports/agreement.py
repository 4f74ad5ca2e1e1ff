"""How far assessors agree: each pair of them, or every judge against one reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import sqlalchemy as sa
from sqlalchemy import Connection, Select

from labeler.assessment.blind_judgments import BlindJudgments, read_blind_judgments
from labeler.assessment.labels_in_force import items_of_pool
from labeler.errors import NotFoundError, UsageError
from labeler.records import table
from labeler.records.pools import Item
from labeler.records.project import Revision
from labeler.reports.answers import (
    DECISIONS,
    PEOPLE,
    Answers,
    LevelsByKey,
    Repeats,
    answers_of_assessors,
    answers_of_decisions,
    answers_of_people,
    levels_by_key,
)
from labeler.reports.labelled import LabelMatrix
from labeler.reports.pairs import (
    AssessorSummary,
    GroupAgreement,
    PairAgreement,
    compare_group,
    compare_pair,
    summarize,
)
from labeler.store.registry import pool_named

__all__ = ["AgreementReport", "report_agreement"]


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """How far assessors agree, and on what.

    Attributes:
        frame: Which items are meant, in words.
        revision: The revision that is looked at.
        against: The reference, which is the first of each pair; None when all are compared.
        repeats: Which of a judge's several labels for one item counts: ``last`` or ``first``.
        interval: How the intervals were made.
        assessors: Everybody who judged something in the frame, people first.
        pairs: The pairs that were compared.
        with_people: Every judge with what the votes of people come to, where all are compared and
            two people voted on an item: so that it stands beside how far people agree.
        groups: People together and judges together, where there are two or more of them: also
            beside judges against people, since how far people agree is as far as a judge can.
        notices: What a reader should know beside the numbers.
    """

    frame: str
    revision: int
    against: str | None
    repeats: str
    interval: str
    assessors: tuple[AssessorSummary, ...]
    pairs: tuple[PairAgreement, ...]
    with_people: tuple[PairAgreement, ...]
    groups: tuple[GroupAgreement, ...]
    notices: tuple[str, ...]


def report_agreement(
    connection: Connection,
    *,
    against: str | None = None,
    pool: str | None = None,
    as_of: int | None = None,
    repeats: Repeats = Repeats.LAST,
) -> AgreementReport:
    """Compare the labels of assessors on the items that both have labelled.

    Args:
        connection: A transaction's connection.
        against: The reference: an assessor's name, ``people`` (what their votes come to) or
            ``decisions`` (what is in force). Against an assessor all others are compared, against
            the other two all judges. By default everybody is compared with everybody; and every
            judge with the people together, where two of them voted on an item: what people agree
            on among each other stands beside what a judge agrees on with them.
        pool: Look at the items of this pool only.
        as_of: The state after this revision; None is the present.
        repeats: Which label counts where a judge gave several for one item.

    Raises:
        NotFoundError: When a name or the revision isn't there, or there is nobody to compare.
        UsageError: When several assessors could be meant.
    """
    frame = _frame(connection, pool, as_of)
    levels = levels_by_key(connection)
    read = read_blind_judgments(connection, frame.items, as_of)
    assessors = answers_of_assessors(connection, read, repeats)
    reference, notices = _reference(connection, frame, against, assessors, read, levels)
    chosen = _chosen(reference, assessors)
    beside: list[tuple[Answers, Answers]] = []
    if reference is None:
        beside, told = _beside_people(connection, assessors, read, levels)
        notices += told
    known = {one.name: one for one in (*assessors, *(first for first, _ in (*chosen, *beside)))}
    labels = LabelMatrix.of(list(known.values()), levels, _queries(connection, frame.items))
    pairs, with_people = (
        tuple(compare_pair(labels, first.name, second.name) for first, second in some)
        for some in (chosen, beside)
    )
    return AgreementReport(
        frame=frame.words,
        revision=frame.revision,
        against=None if reference is None else reference.name,
        repeats=repeats.value,
        interval="95%, jackknife over queries with Student's t",
        assessors=tuple(summarize(labels, one) for one in assessors),
        pairs=pairs,
        with_people=with_people,
        groups=_groups(labels, assessors) if reference is None or reference.kind == PEOPLE else (),
        notices=(*notices, *_notices(read, assessors, pairs, repeats)),
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    """The items that are looked at (None selects all), and when."""

    items: Select[int] | None
    words: str
    revision: int
    as_of: int | None


def _frame(connection: Connection, pool: str | None, as_of: int | None) -> _Frame:
    newest = connection.execute(sa.select(sa.func.max(table(Revision).c.id))).scalar() or 0
    if as_of is not None and not 0 <= as_of <= newest:
        raise NotFoundError(f"there is no revision {as_of}; the newest is {newest}")
    revision = newest if as_of is None else as_of
    if pool is None:
        return _Frame(None, "all items of the project", revision, as_of)
    row = pool_named(connection, pool)
    if row.revision_id > revision:
        raise NotFoundError(
            f"there is no pool '{pool}' at revision {revision}",
            hint=f"it was made at revision {row.revision_id}",
        )
    return _Frame(items_of_pool(row.id), f"the items of pool {pool}", revision, as_of)


def _reference(
    connection: Connection,
    frame: _Frame,
    against: str | None,
    assessors: Sequence[Answers],
    read: BlindJudgments,
    levels: LevelsByKey,
) -> tuple[Answers | None, list[str]]:
    """Find what everybody is compared with, and what should be known of it."""
    if against is None:
        return None, []
    if against == PEOPLE:
        people, disputed = answers_of_people(connection, read, levels)
        told = f"{_items(disputed)} left out: people contradict each other there"
        return people, [told] if disputed else []
    if against == DECISIONS:
        items = sa.select(table(Item).c.id) if frame.items is None else frame.items
        decisions, accepted = answers_of_decisions(connection, items, frame.as_of)
        told = (
            f"{accepted:,} of {len(decisions.of):,} decisions in force were accepted from a judge "
            "by a policy; that judge agrees with them because they are its own"
        )
        return decisions, [told] if accepted else []
    return _named(against, assessors), []


def _chosen(
    reference: Answers | None, assessors: Sequence[Answers]
) -> list[tuple[Answers, Answers]]:
    """Choose who is compared with whom."""
    judges_only = reference is not None and reference.kind in {PEOPLE, DECISIONS}
    if reference is None:
        pairs = list(combinations(assessors, 2))
    else:
        others = [one for one in assessors if one is not reference]
        pairs = [(reference, one) for one in others if not (judges_only and one.is_person)]
    if not pairs:
        names = ", ".join(one.name for one in assessors) or "nobody"
        raise NotFoundError(
            f"agreement needs {'a judge' if judges_only else 'two assessors'} with labels; "
            f"here there is {names}",
            hint="`labeler import labels --assessor NAME`, `labeler judge run` and "
            "`labeler review` bring labels",
        )
    return pairs


def _beside_people(
    connection: Connection,
    assessors: Sequence[Answers],
    read: BlindJudgments,
    levels: LevelsByKey,
) -> tuple[list[tuple[Answers, Answers]], list[str]]:
    """Choose every judge with the people together, where an item has votes of two people."""
    votes = (one.of.items() for one in assessors if one.is_person)
    voted = Counter(item for of_one in votes for item, level in of_one if level > 0)
    judges = [one for one in assessors if not one.is_person]
    if not judges or not any(times > 1 for times in voted.values()):
        return [], []
    people, disputed = answers_of_people(connection, read, levels)
    told = f"{_items(disputed)} left out of what people say: they contradict each other there"
    return [(people, judge) for judge in judges], [told] if disputed else []


def _named(name: str, assessors: Sequence[Answers]) -> Answers:
    found = [one for one in assessors if name == one.name] or [
        one for one in assessors if name in one.names
    ]
    if not found:
        listed = ", ".join(one.name for one in assessors) or "nobody"
        raise NotFoundError(
            f"no assessor '{name}' has judged anything here",
            hint=f"there is {listed}; '{PEOPLE}' and '{DECISIONS}' are known too",
        )
    if len(found) > 1:
        raise UsageError(
            f"several assessors are called '{name}'",
            hint="name one in full: " + ", ".join(f"'{one.name}'" for one in found),
        )
    return found[0]


def _queries(connection: Connection, items: Select[int] | None) -> dict[int, int]:
    item = table(Item)
    statement = sa.select(item.c.id, item.c.query_id)
    if items is not None:
        statement = statement.where(item.c.id.in_(items))
    return {int(key): int(query) for key, query in connection.execute(statement)}


def _groups(labels: LabelMatrix, assessors: Sequence[Answers]) -> tuple[GroupAgreement, ...]:
    people = [one.name for one in assessors if one.is_person]
    judges = [one.name for one in assessors if not one.is_person]
    return tuple(
        compare_group(labels, title, members)
        for title, members in ((PEOPLE, people), ("judges", judges))
        if len(members) > 1
    )


def _notices(
    read: BlindJudgments,
    assessors: Sequence[Answers],
    pairs: Sequence[PairAgreement],
    repeats: Repeats,
) -> list[str]:
    notices = [
        f"not one of the {one.common:,} labels of {one.first} and {one.second} differs: "
        "see that one is no copy of the other"
        for one in pairs
        if one.common > 1 and not one.differing
    ]
    notices += [
        f"{one.name} gave different labels to {_items(one.repeated)}; the {repeats} counts"
        for one in assessors
        if one.repeated and not one.is_person
    ]
    if read.not_blind:
        labels = "1 label was" if read.not_blind == 1 else f"{read.not_blind:,} labels were"
        notices.append(f"{labels} left out: given in sight of others' labels")
    return notices


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count:,} items"
