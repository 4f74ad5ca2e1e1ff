"""What `labeler judge run` does with a language model: options in, progress, a summary out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from labeler.cli.output import Progress, print_facts, print_json, program, tell
from labeler.cli.project import open_project
from labeler.errors import ExitCode, LabelerError, UsageError

if TYPE_CHECKING:
    from labeler.judges.llm.judge import LlmJudge
    from labeler.judges.llm.report import LlmReport
    from labeler.judges.llm.session import JudgeLimits, Tick
    from labeler.judges.llm.setup import LlmOptions
    from labeler.store.database import Store

_RETRYABLE = ("failed", "refused", "truncated")
_IN_PROCESS = {"max_concurrency": 1, "timeout": 600.0}
"""A model in this process answers one request after the other; waiting counts as time."""


@dataclass(frozen=True, slots=True)
class LlmRun:
    """One call of the command.

    Attributes:
        panel: The judges, one after the other.
        limits: What each may take.
        workers: How many processes.
        dry_run: Only count what would be asked.
        batch: Ask by the providers' batches.
        wait: Wait until they have ended.
    """

    pool: str
    panel: tuple[LlmOptions, ...]
    limits: tuple[JudgeLimits, ...]
    workers: int
    dry_run: bool
    batch: bool = False
    wait: bool = True

    @classmethod
    def described(
        cls,
        pool: str,
        models: tuple[str, ...],
        prompts: tuple[str, ...],
        *,
        options: dict[str, Any],
        passages: tuple[int, Literal["cut", "windows"]],
        limits: dict[str, Any],
        price: str | None,
        retry: str | None,
        workers: int,
        dry_run: bool,
        batch: bool = False,
        wait: bool = True,
    ) -> LlmRun:
        """Read the options of the command line.

        Raises:
            UsageError: When options contradict one another.
        """
        from labeler.cli.judge_batch import refuse_without_batches
        from labeler.judges.llm.passages import PassageLimit
        from labeler.judges.llm.session import JudgeLimits
        from labeler.judges.llm.setup import LlmOptions, find_price
        from labeler.providers.chat import AnswerMode
        from labeler.providers.embedded_language_model import is_embedded

        refuse_without_batches(models, batch=batch, wait=wait, workers=workers)
        if len(prompts) not in {1, len(models)}:
            raise UsageError(
                f"{len(prompts)} prompts for {len(models)} judges",
                hint="give one --prompt for all, or one for each --judge in the same order",
            )
        if "embedded" in models:
            raise UsageError(
                "the embedded judge runs by itself",
                hint="run it first, then the panel; routing sees them together. It has no second "
                "occasion: to the same text it always says the same",
            )
        if options["occasion"] > 1 and (batch or retry):
            raise UsageError(
                "--occasion asks one by one, and again what has no answer: leave out "
                f"{'--batch' if batch else '--retry'}"
            )
        if workers < 1:
            raise UsageError("--workers is 1 or more")
        each = prompts if len(prompts) == len(models) else prompts * len(models)
        pairs = list(zip(models, each, strict=True))
        if len(set(pairs)) < len(pairs):
            raise UsageError(
                "two judges of the panel are the same", hint="--samples asks one judge again"
            )
        mode = options["mode"]
        rest = {**options, "mode": None if mode is None else AnswerMode(mode)}
        shown = PassageLimit(*passages)
        outcomes = retry_outcomes(retry)
        return cls(
            pool=pool,
            panel=tuple(
                LlmOptions(model=model, prompt=prompt, passages=shown, **rest)
                for model, prompt in pairs
            ),
            limits=tuple(
                JudgeLimits(
                    **(limits | _IN_PROCESS if is_embedded(model) else limits),
                    price=find_price(model, price, batch=batch),
                    price_is_given=price is not None,
                    retry=outcomes,
                )
                for model in models
            ),
            workers=workers,
            dry_run=dry_run,
            batch=batch,
            wait=wait,
        )


def retry_outcomes(text: str | None) -> frozenset[Any]:
    """Read ``--retry failed,refused``.

    Raises:
        UsageError: When a word isn't an outcome that can be retried.
    """
    from labeler.labels import Outcome

    words = [word.strip() for word in text.split(",")] if text else []
    unknown = [word for word in words if word not in _RETRYABLE]
    if unknown:
        raise UsageError(
            f"--retry doesn't know '{unknown[0]}'", hint=f"it takes {', '.join(_RETRYABLE)}"
        )
    return frozenset(Outcome(word) for word in words)


def run_panel(run: LlmRun, *, db: str | None, json: bool) -> int:
    """Judge a pool by each judge of a panel, and print what came of it."""
    if run.batch and not run.dry_run:
        from labeler.cli.judge_batch import run_batches

        return run_batches(run, db=db, json=json)
    from labeler.judges.llm.pool import pool_to_judge
    from labeler.judges.llm.setup import make_judge
    from labeler.judges.run import models_of_runs, shares_model

    summaries: list[dict[str, Any]] = []
    code = ExitCode.DONE
    stop: LabelerError | None = None
    with open_project(db) as store:
        for options, limits in zip(run.panel, run.limits, strict=True):
            with store.read() as connection:
                pool = pool_to_judge(connection, run.pool)
                judge = make_judge(connection, pool, options)
                circular = shares_model(judge.models, models_of_runs(connection, pool.pool_id))
            _warn(judge)
            if run.dry_run:
                summaries.append(_estimate(store, pool, judge, limits))
                continue
            started = time.monotonic()
            report = _judge(run, store, pool, judge, limits, circular == "circular")
            summary = summary_of(judge, report, circular, time.monotonic() - started)
            summaries.append(summary)
            _tell_of_batches(report)
            if report.lost and code is ExitCode.DONE:
                code = ExitCode.FAILED_ITEMS
            if report.stop is not None:
                stop = report.stop
                break
    if json:
        print_json({"pool": run.pool, "judges": summaries})
    else:
        for summary in summaries:
            if run.dry_run:
                print_facts(summary)
            else:
                print_summary(summary)
    if stop is not None:
        raise stop
    if code is ExitCode.FAILED_ITEMS and not run.dry_run:
        hint_at_retry(run.pool, run.panel[0].occasion)
    return code


def _tell_of_batches(report: LlmReport) -> None:
    if report.waiting:
        tell(
            f"{report.waiting:,} items are lines of a provider's batch; the same command with "
            "--batch collects them"
        )


def hint_at_retry(pool: str, occasion: int = 1) -> None:
    """Say what can be done about items without an answer."""
    if occasion > 1:
        tell("some items have no answer; the same command asks about them again")
        return
    tell(
        f"some items have no answer; `{program()} judge run {pool} ... --retry "
        f"{','.join(_RETRYABLE)}` takes up just those, and `{program()} route` sends the rest "
        "to people"
    )


def _judge(
    run: LlmRun,
    store: Store,
    pool: Any,
    judge: LlmJudge,
    limits: JudgeLimits,
    circular: bool,
) -> LlmReport:
    from labeler.judges.llm.session import judge_in_this_process
    from labeler.judges.llm.workers import judge_in_processes

    with Progress(f"judging {run.pool} by {judge.name}", total=len(pool.items)) as progress:

        def observe(tick: Tick) -> None:
            progress.note = _note(tick)
            progress.advance(tick.done)

        if run.workers == 1:
            return judge_in_this_process(
                store, pool, judge, limits, circular=circular, observe=observe
            )
        return judge_in_processes(
            store, pool, judge, limits, circular=circular, workers=run.workers, observe=observe
        )


def _note(tick: Tick) -> str:
    parts = [f"{tick.in_flight} in flight of {tick.limit}"]
    if tick.retries:
        parts.append(f"{tick.retries:,} retries")
    if tick.throttled:
        parts.append(f"throttled {tick.throttled:,} times")
    if tick.cost:
        parts.append(f"${tick.cost:.4f}")
    if tick.stopping:
        parts.append("stopping: waits for what is paid for; Ctrl-C again drops it")
    return ", ".join(parts)


def _warn(judge: LlmJudge) -> None:
    if judge.weights is not None:
        from labeler.providers.embedded_language_model import NOTICE

        tell(NOTICE)
        tell(
            f"note: as a judge, {judge.model} is at chance (AUC about 0.5 on TREC DL 2019); it "
            "shows that the path works, and its labels are worth nothing"
        )


def _estimate(store: Store, pool: Any, judge: LlmJudge, limits: JudgeLimits) -> dict[str, Any]:
    from labeler.judges.llm.estimate import estimate

    with Progress(f"counting {judge.name}") as progress:
        found = estimate(store, pool, judge, limits, advance=progress.advance)
    return {"judge": judge.name, "digest": judge.digest, **found}


def summary_of(
    judge: LlmJudge, report: LlmReport, independence: str, seconds: float
) -> dict[str, Any]:
    """Give what came of a run, as --json prints it."""
    return {
        "judge": judge.name,
        "digest": judge.digest,
        "calibration": "uncalibrated",
        "independence": independence,
        "items": report.items,
        "judged_before": report.known,
        "answers": report.answered,
        "outcomes": dict(report.outcomes),
        "grades": dict(report.grades),
        "suspicious": report.flagged,
        "without_answer": dict(report.lost),
        "waiting": report.waiting,
        "failures": dict(report.failures),
        "without_call": report.reused,
        "http_requests": report.requests,
        "retries": report.retries,
        "reasks": report.reasks,
        "prompt_tokens": report.prompt_tokens,
        "completion_tokens": report.completion_tokens,
        "cost_usd": None if report.unpriced and not report.cost else round(report.cost, 6),
        "answers_of_unknown_cost": report.unpriced,
        "seconds": round(seconds, 1),
        "stopped": None if report.stop is None else report.stop.message,
    }


def print_summary(summary: Mapping[str, Any]) -> None:
    """Print it for people: names in words, parts set off."""
    facts: dict[str, object] = {"judge": f"{summary['judge']} ({summary['calibration']})"}
    for name in ("items", "judged_before", "answers"):
        facts[name.replace("_", " ")] = summary[name]
    for part in ("outcomes", "grades"):
        facts |= {f"  {name}": count for name, count in sorted(summary[part].items())}
    facts["suspicious"] = summary["suspicious"]
    facts["without an answer"] = sum(summary["without_answer"].values())
    if summary["waiting"]:
        facts["waiting for a batch"] = summary["waiting"]
    facts |= {f"  now: {name}": count for name, count in sorted(summary["failures"].items())}
    facts |= {
        "HTTP requests": summary["http_requests"],
        "  of them retries": summary["retries"],
        "  of them asked again": summary["reasks"],
        "answers without a call": summary["without_call"],
        "tokens in": summary["prompt_tokens"],
        "tokens out": summary["completion_tokens"],
        "cost": _money(summary["cost_usd"], summary["answers_of_unknown_cost"]),
        "seconds": summary["seconds"],
    }
    for name, value in summary.get("batch", {}).items():
        facts[name.replace("_", " ")] = len(value) if isinstance(value, list) else value
    print_facts(facts)
    if summary["independence"] == "circular":
        print(
            "these labels are marked circular: a pooled run names the judge's own model, and the "
            "judge favours what that run finds"
        )


def _money(cost: float | None, unpriced: int) -> str:
    if cost is None:
        return "unknown"
    return f"${cost:.4f}" + (f", and {unpriced:,} answers of unknown cost" if unpriced else "")
