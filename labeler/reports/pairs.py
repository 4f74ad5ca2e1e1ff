"""Two assessors, or several together, compared on the items that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeler.evaluation.agreement import (
    Estimate,
    NoValue,
    cohen_kappa,
    coincidence_tables,
    confusion_tables,
    estimate,
    exact_agreement,
    gwet_ac1,
    krippendorff_nominal,
    krippendorff_ordinal,
    paired_coincidences,
    quadratic_kappa,
)
from labeler.labels import Scale
from labeler.reports.answers import Answers, NoLabel
from labeler.reports.common_scale import common_scale, ranks_on
from labeler.reports.labelled import RELEVANCE, LabelMatrix, LevelCount

__all__ = [
    "AssessorSummary",
    "GroupAgreement",
    "LevelAgreement",
    "PairAgreement",
    "RelevanceAgreement",
    "Unmatched",
    "compare_group",
    "compare_pair",
    "summarize",
]

Table = tuple[tuple[int, ...], ...]
"""Counts of pairs: rows are the first assessor's labels, columns the second's, from worst."""


@dataclass(frozen=True, slots=True)
class AssessorSummary:
    """What one assessor gave within the frame.

    Attributes:
        labels: Items with a label of theirs.
        abstained: Items that they couldn't judge.
        failed: Items whose judging failed, was refused or cut off.
        undecided: Items on which a person contradicts himself.
        repeated: Items with several different labels, of which the last counts.
        by_level: The labels by level.
    """

    name: str
    kind: str
    labels: int
    abstained: int
    failed: int
    undecided: int
    repeated: int
    by_level: tuple[LevelCount, ...]


@dataclass(frozen=True, slots=True)
class Unmatched:
    """What the other has where one assessor has a label and the other none: counts of items."""

    nothing: int
    abstained: int
    failed: int
    undecided: int


@dataclass(frozen=True, slots=True)
class LevelAgreement:
    """Agreement on the levels of one scale.

    Attributes:
        scale: The scale that the labels were compared on.
        levels: Its levels as ``code name``, from worst: the rows and columns of the table.
        confusion: The table.
    """

    scale: str
    levels: tuple[str, ...]
    confusion: Table
    exact: Estimate
    kappa: Estimate
    quadratic_kappa: Estimate
    alpha_nominal: Estimate
    alpha_ordinal: Estimate
    ac1: Estimate


@dataclass(frozen=True, slots=True)
class RelevanceAgreement:
    """Agreement on relevant or not, by the grades that levels map to; the table is 2 by 2."""

    confusion: Table
    exact: Estimate
    kappa: Estimate
    ac1: Estimate


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two assessors compared.

    Attributes:
        first: One of them, or the reference.
        second: The other.
        common: Items that both have labelled.
        queries: The queries of these items.
        differing: Common items whose labels differ: in level, or else in relevance.
        first_alone: Items that only the first has labelled, by what the second has there.
        second_alone: The same the other way round.
        first_labels: The first's labels of the common items by level.
        second_labels: The second's.
        levels: Agreement on levels, or None when they can't be compared.
        levels_not_compared: Why not, or None.
        relevance: Agreement on relevant or not.
    """

    first: str
    second: str
    common: int
    queries: int
    differing: int
    first_alone: Unmatched
    second_alone: Unmatched
    first_labels: tuple[LevelCount, ...]
    second_labels: tuple[LevelCount, ...]
    levels: LevelAgreement | None
    levels_not_compared: str | None
    relevance: RelevanceAgreement


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """Several assessors together, by Krippendorff's alpha.

    Attributes:
        group: ``people`` or ``judges``.
        members: Their names.
        items: Items that two or more of them have labelled.
        scale: The scale of the alphas on levels, or None when levels can't be compared.
        levels_not_compared: Why not, or None.
        alpha_nominal: On levels, all differences alike; None when levels can't be compared.
        alpha_ordinal: On levels in their order; None when levels can't be compared.
        alpha_relevance: On relevant or not.
    """

    group: str
    members: tuple[str, ...]
    items: int
    scale: str | None
    levels_not_compared: str | None
    alpha_nominal: Estimate | None
    alpha_ordinal: Estimate | None
    alpha_relevance: Estimate


def summarize(labels: LabelMatrix, assessor: Answers) -> AssessorSummary:
    """Count what one assessor gave."""
    row = labels.row(assessor.name)
    return AssessorSummary(
        name=assessor.name,
        kind=assessor.kind,
        labels=int((row > 0).sum()),
        abstained=int((row == NoLabel.ABSTAINED).sum()),
        failed=int((row == NoLabel.FAILED).sum()),
        undecided=int((row == NoLabel.UNDECIDED).sum()),
        repeated=assessor.repeated,
        by_level=labels.by_level(row),
    )


def compare_pair(labels: LabelMatrix, first: str, second: str) -> PairAgreement:
    """Compare two assessors by their names."""
    ours, theirs = labels.row(first), labels.row(second)
    both = (ours > 0) & (theirs > 0)
    mine, others, queries = ours[both], theirs[both], labels.queries[both]
    scale, why_not = _scale_for(labels, np.stack([mine, others]))
    levels = None if scale is None else _on_levels(labels, mine, others, queries, scale)
    relevance = _on_relevance(labels, mine, others, queries)
    return PairAgreement(
        first=first,
        second=second,
        common=int(both.sum()),
        queries=len(np.unique(queries)),
        differing=_off_diagonal(relevance.confusion if levels is None else levels.confusion),
        first_alone=_unmatched(ours, theirs),
        second_alone=_unmatched(theirs, ours),
        first_labels=labels.by_level(mine),
        second_labels=labels.by_level(others),
        levels=levels,
        levels_not_compared=why_not,
        relevance=relevance,
    )


def compare_group(labels: LabelMatrix, group: str, members: Sequence[str]) -> GroupAgreement:
    """Compare several assessors at once."""
    answers = np.stack([labels.row(name) for name in members])
    shared = (answers > 0).sum(axis=0) > 1
    answers, queries = answers[:, shared], labels.queries[shared]
    scale, why_not = _scale_for(labels, answers)
    nominal = ordinal = None
    if scale is not None:
        ranks = labels.ranks(answers, ranks_on(scale))
        tables = coincidence_tables(ranks, queries, len(scale.levels))
        nominal = estimate(tables, krippendorff_nominal)
        ordinal = estimate(tables, krippendorff_ordinal)
    states = coincidence_tables(labels.states(answers), queries, len(RELEVANCE))
    return GroupAgreement(
        group=group,
        members=tuple(members),
        items=int(shared.sum()),
        scale=None if scale is None else scale.name,
        levels_not_compared=why_not,
        alpha_nominal=nominal,
        alpha_ordinal=ordinal,
        alpha_relevance=estimate(states, krippendorff_nominal),
    )


def _scale_for(labels: LabelMatrix, answers: NDArray[np.int64]) -> tuple[Scale | None, str | None]:
    """Give the scale to compare labels on, or why there is none."""
    scales = labels.scales_in(answers)
    if not scales:
        return None, NoValue.NO_PAIR.value
    scale = common_scale(scales.values())
    names = ", ".join(sorted(one.name for one in scales.values()))
    return scale, None if scale is not None else f"different scales ({names})"


def _on_levels(
    labels: LabelMatrix,
    mine: NDArray[np.int64],
    others: NDArray[np.int64],
    queries: NDArray[np.int64],
    scale: Scale,
) -> LevelAgreement:
    places = ranks_on(scale)
    tables = confusion_tables(
        labels.ranks(mine, places), labels.ranks(others, places), queries, len(scale.levels)
    )
    coincidences = paired_coincidences(tables)
    return LevelAgreement(
        scale=scale.name,
        levels=tuple(f"{code} {scale.level(code).name}" for code in places),
        confusion=_as_counts(tables.sum(axis=0)),
        exact=estimate(tables, exact_agreement, least=0.0),
        kappa=estimate(tables, cohen_kappa),
        quadratic_kappa=estimate(tables, quadratic_kappa),
        alpha_nominal=estimate(coincidences, krippendorff_nominal),
        alpha_ordinal=estimate(coincidences, krippendorff_ordinal),
        ac1=estimate(tables, gwet_ac1),
    )


def _on_relevance(
    labels: LabelMatrix,
    mine: NDArray[np.int64],
    others: NDArray[np.int64],
    queries: NDArray[np.int64],
) -> RelevanceAgreement:
    tables = confusion_tables(labels.states(mine), labels.states(others), queries, len(RELEVANCE))
    return RelevanceAgreement(
        confusion=_as_counts(tables.sum(axis=0)),
        exact=estimate(tables, exact_agreement, least=0.0),
        kappa=estimate(tables, cohen_kappa),
        ac1=estimate(tables, gwet_ac1),
    )


def _unmatched(labelled: NDArray[np.int64], other: NDArray[np.int64]) -> Unmatched:
    there = other[labelled > 0]
    return Unmatched(
        nothing=int((there == NoLabel.NOTHING).sum()),
        abstained=int((there == NoLabel.ABSTAINED).sum()),
        failed=int((there == NoLabel.FAILED).sum()),
        undecided=int((there == NoLabel.UNDECIDED).sum()),
    )


def _as_counts(confusion: NDArray[np.float64]) -> Table:
    return tuple(tuple(int(count) for count in row) for row in confusion)


def _off_diagonal(confusion: Table) -> int:
    return sum(
        count
        for row, counts in enumerate(confusion)
        for column, count in enumerate(counts)
        if row != column
    )
