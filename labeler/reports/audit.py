"""What the draws of a pool's audit say: how far labels agree with people, what is relevant, recall.

Only items that were drawn with a recorded probability count as a sample. Votes of the queue are
counted beside, and no rate is computed from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from labeler.assessment.label_states import is_of_people
from labeler.assessment.labels_in_force import items_of_pool, labels_in_force
from labeler.assessment.people_labels import items_in_dispute
from labeler.draws.audit_ledger import (
    DrawnLabel,
    Ledgers,
    cells_of,
    count_ledgers,
    share_right,
)
from labeler.evaluation.estimators import Known
from labeler.evaluation.posterior import Interval, LabelledStratum
from labeler.evaluation.sample_estimates import (
    DrawnStratum,
    Estimand,
    SampleEstimate,
    SampleFacts,
    estimate,
    facts_of,
)
from labeler.labels import Grade
from labeler.reports.audited_labels import AuditedLabels, AuditedPart, read_audit
from labeler.reports.conditions import Conditions
from labeler.reports.scope import Scope, ScopeOptions, read_scope

__all__ = ["AgreementRow", "AuditReport", "EstimateRow", "report_audit"]

_SEED = 1


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """How many labels of one grade people agree with, by the draws from them.

    Attributes:
        grade: The grade of the labels.
        accepted: Labels of them that are accepted now; 0 in the row of those that aren't.
        labels: Labels that the draws were made from, those that people judged since among them.
        drawn: How many were drawn.
        answered: How many of these people have judged.
        agreed: How many of these got the same grade. Unweighted.
        abstained: How many people couldn't judge: they agree with no label.
        share: The share that people agree with, each answer weighed by its probability; None
            without answers.
        interval: Its 95% interval, or None.
        method: How the interval was made.
    """

    grade: Grade
    accepted: int
    labels: int
    drawn: int
    answered: int
    agreed: int
    abstained: int
    share: float | None
    interval: Interval | None
    method: str


@dataclass(frozen=True, slots=True)
class EstimateRow:
    """One figure of the population, estimated from the draws.

    Attributes:
        name: What it is.
        run: The run that it speaks of, or None.
        value: The design-weighted estimate; None where it is undefined.
        interval: Its 95% interval, abstentions taken to be like the others of their stratum.
        bounds: The widest interval that any answers in place of abstentions could give.
        known_relevant: Relevant items that people judged outside of the draw's strata.
        found: Drawn relevant items; of a run, those that it retrieved. Unweighted.
        method: How the interval was made.
    """

    name: str
    run: str | None
    value: float | None
    interval: Interval
    bounds: Interval
    known_relevant: int
    found: int
    method: str


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What the draws of a pool's audit say.

    Attributes:
        conditions: What every number rests on.
        policy: The policy that the audit is of.
        frame: The population of the figures, in words.
        interval: What the intervals speak of.
        prior: What the intervals lean on besides the draws.
        ledgers: Labels of draws and labels of the queue, counted apart.
        sample: Unweighted counts of the draws.
        known: Items that people judged outside of the strata that were drawn from.
        outside: Items of the pool that no figure speaks of.
        accepted: By grade, the labels that are accepted.
        others: By grade, the labels that are not.
        figures: Prevalence, relevant items, and recall of each run.
        notices: What a reader should know besides.
    """

    conditions: Conditions
    policy: str
    frame: str
    interval: str
    prior: str
    ledgers: Ledgers
    sample: SampleFacts
    known: int
    outside: int
    accepted: tuple[AgreementRow, ...]
    others: tuple[AgreementRow, ...]
    figures: tuple[EstimateRow, ...]
    notices: tuple[str, ...]


def report_audit(connection: Connection, options: ScopeOptions, *, cutoff: int = 20) -> AuditReport:
    """Tell what the draws of a pool's audit say.

    Args:
        connection: A transaction's connection.
        options: The pool, the runs, and the revision; people's labels are what counts.
        cutoff: How many first places of a run count for its recall.

    Raises:
        NotFoundError: When a name or the revision isn't there, or no audit was drawn or answered.
    """
    scope = read_scope(connection, options)
    pool_id, name, as_of = scope.evaluated.pool_id, scope.evaluated.pool, options.as_of
    counted = frozenset(scope.evaluated.labels.items.tolist())
    pooled = labels_in_force(connection, items_of_pool(pool_id), as_of)
    labels = {item: label for item, label in pooled.items() if item in counted}
    audit = read_audit(connection, pool_id, name, labels, counted, as_of)
    judged = {item for item, label in labels.items() if is_of_people(label)}
    outside = {item: audit.said.get(item) for item in judged - audit.items}
    cells = cells_of(audit.strata, audit.said, frozenset(), audit.relevance)
    covered = len(audit.items) + len(outside)
    return AuditReport(
        conditions=scope.conditions,
        policy=audit.policy,
        frame=f"{audit.description}; and the {len(outside):,} items that people judged beside",
        interval="95%, by the draw: it speaks of these items, and not of other queries",
        prior=audit.prior,
        ledgers=count_ledgers(
            connection,
            pool_id,
            judged,
            as_of,
            disputed=items_in_dispute(connection, items_of_pool(pool_id), as_of) & counted,
        ),
        sample=facts_of(cells),
        known=len(outside),
        outside=len(scope.evaluated.labels.items) - covered,
        accepted=_agreement([part for part in audit.parts if part.accepted], audit.said),
        others=_agreement([part for part in audit.parts if not part.accepted], audit.said),
        figures=_figures(scope, audit, outside, cells, cutoff),
        notices=_notices(scope, audit, covered),
    )


def _agreement(
    parts: Sequence[AuditedPart], said: Mapping[int, Grade | None]
) -> tuple[AgreementRow, ...]:
    grades = [grade for grade in Grade if any(part.grade is grade for part in parts)]
    return tuple(
        _row(grade, [one for one in parts if one.grade is grade], said) for grade in grades
    )


def _row(
    grade: Grade, parts: Sequence[AuditedPart], said: Mapping[int, Grade | None]
) -> AgreementRow:
    labels: list[DrawnLabel] = []
    strata: list[DrawnStratum] = []
    for part in parts:
        answered = sorted(part.drawn & said.keys())
        # What is drawn and waits is as likely to be missing as any other of its stratum.
        chance = len(answered) / len(part.items)
        labels += [DrawnLabel(item, chance, said[item], grade) for item in answered]
        agreed = sum(said[item] is grade for item in answered)
        strata.append(
            DrawnStratum(
                LabelledStratum(len(part.items), len(answered), agreed),
                waiting=len(part.drawn) - len(answered),
            )
        )
    size = sum(len(part.items) for part in parts)
    told = estimate(Estimand.RELEVANT, strata, Known(), seed=_SEED) if labels else None
    return AgreementRow(
        grade=grade,
        accepted=sum(part.accepted for part in parts),
        labels=size,
        drawn=sum(len(part.drawn) for part in parts),
        answered=len(labels),
        agreed=sum(one.said is grade for one in labels),
        abstained=sum(one.said is None for one in labels),
        share=share_right(labels),
        interval=None if told is None else _scaled(told.interval, size),
        method="" if told is None else told.method.value,
    )


def _scaled(interval: Interval, size: int) -> Interval:
    return Interval(interval.low / size, interval.high / size)


def _figures(
    scope: Scope,
    audit: AuditedLabels,
    outside: Mapping[int, Grade | None],
    cells: Sequence[DrawnStratum],
    cutoff: int,
) -> tuple[EstimateRow, ...]:
    relevant = frozenset(
        item for item, grade in outside.items() if grade not in {None, Grade.NOT_RELEVANT}
    )
    total = estimate(Estimand.RELEVANT, cells, Known(len(relevant)), seed=_SEED)
    # An item outside that people couldn't judge is unknown: prevalence is of what can be known.
    size = len(audit.items) + sum(grade is not None for grade in outside.values())
    found = sum(cell.labelled.relevant for cell in cells)
    rows = [
        _figure("relevant_items (estimated)", None, total, len(relevant), found),
        _figure("prevalence (estimated)", None, total, len(relevant), found, size),
    ]
    for run in scope.evaluated.runs:
        inside = scope.evaluated.top_items(run, cutoff)
        own = frozenset(scope.evaluated.labels.items[inside].tolist())
        of_run = cells_of(audit.strata, audit.said, own, audit.relevance)
        told = estimate(
            Estimand.RECALL, of_run, Known(len(relevant), len(relevant & own)), seed=_SEED
        )
        found = sum(cell.labelled.relevant for cell in of_run if cell.labelled.first)
        name = f"pooled_recall@{cutoff} (estimated)"
        rows.append(_figure(name, run, told, len(relevant & own), found))
    return tuple(rows)


def _figure(
    name: str, run: str | None, told: SampleEstimate, known: int, found: int, size: int = 1
) -> EstimateRow:
    return EstimateRow(
        name=name,
        run=run,
        value=None if told.value is None else told.value / size,
        interval=_scaled(told.interval, size),
        bounds=_scaled(told.bounds, size),
        known_relevant=known,
        found=found,
        method=told.method.value,
    )


def _notices(scope: Scope, audit: AuditedLabels, covered: int) -> tuple[str, ...]:
    found = []
    waiting = sum(len(part.drawn - audit.said.keys()) for part in audit.parts)
    if waiting:
        found.append(
            f"{waiting:,} drawn items wait for people; until then they are taken to be like the "
            "others of their stratum"
        )
    outside = len(scope.evaluated.labels.items) - covered
    if outside:
        found.append(
            f"{outside:,} items of the pool were neither judged nor in a frame that was drawn "
            "from: no figure speaks of them"
        )
    if any(part.accepted for part in audit.parts):
        found.append(
            "which labels are accepted may follow from the same draws: the share of accepted "
            "labels describes, and the guarantee is the policy's, in `labeler route`"
        )
    return (*found, *(one for one in scope.notices if "have no label" not in one))
