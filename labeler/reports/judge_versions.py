"""Which judges there are, in which versions, and which one a name means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import NotFoundError, UsageError
from labeler.records import table
from labeler.records.judgments import Judgment
from labeler.records.scales import Assessor, AssessorKind

__all__ = ["JudgeVersion", "choose_one", "choose_two", "judge_versions"]

_JUDGMENT, _ASSESSOR = table(Judgment), table(Assessor)

NO_DIGEST = "-"
"""Names the version of a judge that has no digest, as one whose labels were imported."""

_SHORT = 12


@dataclass(frozen=True, slots=True)
class JudgeVersion:
    """A judge as it was set up once: another prompt text or parameter is another version.

    Attributes:
        assessor_id: The assessor.
        kind: ``llm`` or ``embedded``.
        name: Of a language model the model and the prompt.
        digest: Tells versions apart; empty for a judge whose labels were imported.
        newest: The key of the latest judgment, which tells the latest version; 0 when it has none.
    """

    assessor_id: int
    kind: str
    name: str
    digest: str
    newest: int = 0

    @property
    def short_digest(self) -> str:
        """As much of the digest as is shown."""
        return self.digest[:_SHORT] or NO_DIGEST

    @property
    def full_name(self) -> str:
        """The name that means this version and no other."""
        return f"{self.name}@{self.short_digest}"


def judge_versions(connection: Connection) -> list[JudgeVersion]:
    """Read every version of every judge, by name, the latest version of a name last."""
    newest = (
        sa.select(_JUDGMENT.c.assessor_id, sa.func.max(_JUDGMENT.c.id).label("newest"))
        .group_by(_JUDGMENT.c.assessor_id)
        .subquery()
    )
    statement = (
        sa.select(
            _ASSESSOR.c.id, _ASSESSOR.c.kind, _ASSESSOR.c.name, _ASSESSOR.c.digest, newest.c.newest
        )
        .outerjoin(newest, newest.c.assessor_id == _ASSESSOR.c.id)
        .where(_ASSESSOR.c.kind != AssessorKind.PERSON.value)
    )
    found = [JudgeVersion(*row[:4], row[4] or 0) for row in connection.execute(statement)]
    return sorted(found, key=lambda one: (one.name, one.newest, one.assessor_id))


def choose_two(
    judges: Sequence[JudgeVersion], first: str, second: str
) -> tuple[JudgeVersion, JudgeVersion, list[str]]:
    """Find two judges by what was typed: ``NAME``, or ``NAME@`` and the start of the digest.

    Of a name with several versions the latest is meant.

    Args:
        judges: All there are.
        first: Names one.
        second: Names the other.

    Returns:
        The two, and a line for each name that could have meant several.

    Raises:
        NotFoundError: When there is no such judge.
        UsageError: When both names mean the same judge.
    """
    named = list(dict.fromkeys((first, second)))
    chosen = [choose_one(judges, typed) for typed in named]
    notices = [line for _, lines in chosen for line in lines]
    (one, _), (other, _) = chosen[0], chosen[-1]
    if one.assessor_id == other.assessor_id:
        could_be = (judge for typed in named for judge in _fitting(judges, typed))
        choices = {judge.full_name: judge for judge in could_be}
        raise UsageError(
            f"{first} and {second} are the same judge"
            if first != second
            else f"a judge is compared with another one, not {first} with itself",
            hint="versions of a judge are told apart by their digests: " + ", ".join(choices)
            if len(choices) > 1
            else "`labeler judge list` shows the judges and their versions",
        )
    return one, other, notices


def choose_one(judges: Sequence[JudgeVersion], typed: str) -> tuple[JudgeVersion, list[str]]:
    """Find a judge by what was typed, and a line where it could have meant several.

    Raises:
        NotFoundError: When there is no such judge.
    """
    fitting = _fitting(judges, typed)
    latest = max(fitting, key=lambda one: (one.newest, one.assessor_id))
    if len(fitting) == 1:
        return latest, []
    others = _names(one for one in fitting if one is not latest)
    told = f"{len(fitting)} versions are called {typed}; {latest.full_name} answered last"
    return latest, [f"{told} and is taken, not {others}"]


def _fitting(judges: Sequence[JudgeVersion], typed: str) -> list[JudgeVersion]:
    """Find the versions that a name can mean. A name may hold an ``@`` of its own."""
    named = [one for one in judges if one.name == typed]
    if named:
        return named
    name, at, start = typed.rpartition("@")
    if at and start:
        named = [
            one
            for one in judges
            if one.name == name
            and (one.digest.startswith(start.lower()) if one.digest else start == NO_DIGEST)
        ]
    if not named:
        known = _names(judges)
        raise NotFoundError(
            f"there is no judge '{typed}'",
            hint=f"there is {known}" if known else "`labeler judge run POOL` has a pool judged",
        )
    return named


def _names(judges: Iterable[JudgeVersion]) -> str:
    return ", ".join(one.full_name for one in judges)
