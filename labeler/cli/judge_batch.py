"""What `labeler judge run --batch` does: submit to providers, wait, collect, print a summary."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labeler.cli.judge_llm import hint_at_retry, print_summary, summary_of
from labeler.cli.output import Progress, print_json, program, tell
from labeler.cli.project import open_project
from labeler.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from labeler.cli.judge_llm import LlmRun
    from labeler.judges.llm.batch import BatchReport, BatchTick, Submitted
    from labeler.judges.llm.judge import LlmJudge
    from labeler.judges.llm.pool import PoolToJudge
    from labeler.judges.llm.session import JudgeLimits
    from labeler.store.database import Store

__all__ = ["refuse_without_batches", "run_batches"]


@dataclass
class _Part:
    """One judge of a panel."""

    pool: PoolToJudge
    judge: LlmJudge
    limits: JudgeLimits
    independence: str
    submitted: Submitted
    started: float


def refuse_without_batches(
    models: tuple[str, ...], *, batch: bool, wait: bool, workers: int
) -> None:
    """Check the options that go with ``--batch``.

    Raises:
        UsageError: When they contradict one another, or a provider takes no batches.
    """
    if not batch:
        if not wait:
            raise UsageError("--no-wait goes with --batch")
        return
    if workers != 1:
        raise UsageError("--workers is for asking one by one; with --batch the provider does it")
    from labeler.providers.batches import provider_with_batches

    for model in models:
        provider_with_batches(model)


def run_batches(run: LlmRun, *, db: str | None, json: bool) -> int:
    """Submit the batches of each judge, then wait for each judge's, and print what came of it."""
    with open_project(db) as store:
        parts = [_submitted(run, store, place) for place in range(len(run.panel))]
        stop = next((one.submitted.stop for one in parts if one.submitted.stop), None)
        is_interrupted = stop is not None and stop.exit_code is ExitCode.INTERRUPTED
        reports = [
            _collected(run, store, one, wait=run.wait and not is_interrupted) for one in parts
        ]
    summaries = [_summary(one, report) for one, report in zip(parts, reports, strict=True)]
    if json:
        print_json({"pool": run.pool, "judges": summaries})
    else:
        for summary in summaries:
            print_summary(summary)
    stop = stop or next((one.judged.stop for one in reports if one.judged.stop), None)
    if stop is not None:
        raise stop
    return _end(run, reports)


def _submitted(run: LlmRun, store: Store, place: int) -> _Part:
    from labeler.judges.llm.batch import BatchSettings, submit
    from labeler.judges.llm.pool import pool_to_judge
    from labeler.judges.llm.setup import make_judge
    from labeler.judges.run import models_of_runs, shares_model

    started = time.monotonic()
    with store.read() as connection:
        pool = pool_to_judge(connection, run.pool)
        judge = make_judge(connection, pool, run.panel[place])
        independence = shares_model(judge.models, models_of_runs(connection, pool.pool_id))
    limits = run.limits[place]
    with Progress(f"submitting {run.pool} to {judge.name}") as progress:
        found = submit(store, pool, judge, limits, BatchSettings(), observe=progress.advance)
    for name in found.taken_up:
        tell(f"batch {name} was submitted by an earlier run, and is taken up")
    if found.lines:
        tell(
            f"submitted {found.lines:,} lines for {judge.name}, as batch "
            f"{' and '.join(found.batches)}"
        )
    return _Part(pool, judge, limits, independence, found, started)


def _collected(run: LlmRun, store: Store, part: _Part, *, wait: bool) -> BatchReport:
    from labeler.judges.llm.batch import BatchSettings, collect

    with Progress(f"waiting for {part.judge.name}") as progress:

        def observe(tick: BatchTick) -> None:
            progress.note = f"{tick.batches:,} batches under way; Ctrl-C leaves them there"
            progress.advance(tick.done, tick.total)

        report = collect(
            store,
            part.pool,
            part.judge,
            part.limits,
            BatchSettings(wait=wait),
            circular=part.independence == "circular",
            observe=observe,
        )
    for note in report.notes:
        tell(note)
    for standing in report.under_way:
        tell(
            f"batch {standing.id} is {standing.status}: {standing.done:,} of {standing.total:,} "
            f"lines are done; `{program()} judge run {run.pool} ... --batch` collects them"
        )
    return report


def _summary(part: _Part, report: BatchReport) -> dict[str, Any]:
    seconds = time.monotonic() - part.started
    summary = summary_of(part.judge, report.judged, part.independence, seconds)
    stop = part.submitted.stop or report.judged.stop
    return summary | {
        "http_requests": 0,
        "stopped": None if stop is None else stop.message,
        "batch": {
            "lines_submitted": part.submitted.lines,
            "lines_collected": report.collected,
            "lines_unanswered": report.unanswered,
            "under_way": [
                {
                    "id": one.id,
                    "status": one.status,
                    "lines_done": one.done,
                    "lines": one.total,
                }
                for one in report.under_way
            ],
        },
    }


def _end(run: LlmRun, reports: list[BatchReport]) -> int:
    if any(one.judged.lost for one in reports):
        hint_at_retry(run.pool)
    elsewhere = sum(
        one.judged.waiting for one in reports if not one.under_way and not one.unanswered
    )
    if elsewhere:
        tell(
            f"{elsewhere:,} items wait for a batch that another pool's run submitted; that run "
            "collects it"
        )
    lost = any(one.judged.lost or one.unanswered for one in reports)
    return ExitCode.FAILED_ITEMS if lost else ExitCode.DONE
