"""`labeler judge probe`: how robust a judge is against passages that try to trick it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from labeler.cli.output import Progress, print_json, tell
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.errors import ExitCode, LabelerError, UsageError

if TYPE_CHECKING:
    from labeler.assessment.rubric import Rubric
    from labeler.assessment.verdict import Verdict
    from labeler.judges.llm.judge import LlmJudge
    from labeler.judges.llm.report import LlmReport
    from labeler.judges.llm.session import JudgeLimits
    from labeler.judges.llm.setup import LlmOptions
    from labeler.judges.probe_cases import ProbeCase

_MODEL = Group.create_ordered("What the model is asked")
_LIMITS = Group.create_ordered("Limits")


def probe(
    *,
    judge: str,
    seed: int = 0,
    repeat: int = 1,
    db: Database = None,
    json: JsonOutput = False,
    prompt: Annotated[str, Parameter(group=_MODEL)] = "direct",
    rubric: Annotated[Path | None, Parameter(group=_MODEL)] = None,
    mode: Annotated[Literal["json-schema", "tools", "text"] | None, Parameter(group=_MODEL)] = None,
    max_output_tokens: Annotated[int, Parameter(group=_MODEL)] = 800,
    endpoint: Annotated[str | None, Parameter(group=_MODEL)] = None,
    max_concurrency: Annotated[int, Parameter(group=_LIMITS)] = 64,
    timeout: Annotated[float, Parameter(group=_LIMITS)] = 60.0,
    attempts: Annotated[int, Parameter(group=_LIMITS)] = 5,
) -> int:
    """Show a judge passages that try to trick it, and tell which of them do.

    About a hundred short questions in six languages: stuffed query words, orders to the judge and
    fake answers, padding, empty passages, answers for another region, product or date. Honest
    passages are asked as controls. Nothing is stored. Exit 3 when answers are missing, 4 when the
    provider refuses (key, quota).

    Parameters
    ----------
    judge
        A model as litellm names it, or 'embedded'.
    seed
        Decides where in a passage an order stands.
    repeat
        Ask every case so often, orders at other places each time; the worst answer counts.
    prompt
        A shipped prompt's name, or a file.
    rubric
        A rubric file; the shipped one by default.
    mode
        How the model is held to the answer's shape; by default as `labeler doctor` found out.
    max_output_tokens
        The most tokens of one answer; a model that thinks needs more.
    endpoint
        The address of a server of your own, such as http://127.0.0.1:8080/v1.
    max_concurrency
        The most requests in flight; fewer as long as the provider throttles.
    timeout
        Seconds for one request.
    attempts
        HTTP requests for one answer, while failures are of a kind that passes.
    """
    from labeler.assessment.rubric import default_rubric, read_rubric
    from labeler.judges.probe_cases import compose, shipped_tricks

    if repeat < 1:
        raise UsageError("--repeat is 1 or more")
    tricks = shipped_tricks()
    used = default_rubric() if rubric is None else read_rubric(rubric)
    cases = compose(tricks, used, seed=seed, repeat=repeat)
    started = time.monotonic()
    if judge == "embedded":
        answered = _ask_embedded(cases, used)
    else:
        from labeler.judges.llm.session import JudgeLimits
        from labeler.judges.llm.setup import LlmOptions
        from labeler.providers.chat import AnswerMode

        options = LlmOptions(
            model=judge,
            prompt=prompt,
            mode=None if mode is None else AnswerMode(mode),
            max_output_tokens=max_output_tokens,
            endpoint=endpoint,
        )
        limits = JudgeLimits(max_concurrency=max_concurrency, timeout=timeout, attempts=attempts)
        answered = _ask_model(cases, used, options, limits, db=db)
    seconds = round(time.monotonic() - started, 1)
    facts = {
        **answered.judge,
        "rubric": used.name,
        "tricks": tricks.digest,
        "seed": seed,
        "repeat": repeat,
    }
    described = {trick.name: trick.what for trick in tricks.tricks}
    return _report(facts, cases, answered, described, seconds, json=json)


@dataclass(frozen=True, slots=True)
class _Answered:
    """What a judge answered, whatever kind it is.

    Attributes:
        judge: What identifies it, by name.
        verdicts: By the key of the item.
        cost: What it took, by name.
        stop: Why not everything was asked, or None.
    """

    judge: Mapping[str, object]
    verdicts: Mapping[int, Verdict]
    cost: Mapping[str, object]
    stop: LabelerError | None = None


def _ask_embedded(cases: Sequence[ProbeCase], rubric: Rubric) -> _Answered:
    """Ask the embedded judge: each passage among the honest ones of its query."""
    from labeler.judges.coefficients import read_coefficients
    from labeler.judges.embedded import EmbeddedJudge
    from labeler.providers.embeddings import CachedEmbedder, E5Embedder, MemoryCache
    from labeler.search.lexical import TermStatistics

    statistics = TermStatistics.from_texts(sorted({case.item.passage for case in cases}))
    # Some two hundred texts: more threads would only wait for one another on a busy machine.
    embedder = CachedEmbedder(E5Embedder(threads=1), MemoryCache())
    judge = EmbeddedJudge(embedder, read_coefficients(None), statistics)
    verdicts: dict[int, Verdict] = {}
    with Progress("probing the embedded judge", total=len(cases)) as progress:
        for case in cases:
            for verdict in judge.judge(case.block(rubric)):
                if verdict.item_id == case.item.item_id:
                    verdicts[verdict.item_id] = verdict
            progress.advance(len(verdicts))
    return _Answered({"judge": judge.name, "digest": judge.digest}, verdicts, {})


def _ask_model(
    cases: Sequence[ProbeCase],
    rubric: Rubric,
    options: LlmOptions,
    limits: JudgeLimits,
    *,
    db: str | None,
) -> _Answered:
    """Ask a language model, with what the project knows of it where there is a project."""
    from labeler.judges.llm.asking import answer_questions_here
    from labeler.store.database import utc_now

    judge = _make_judge(options, db)
    _warn(judge)
    questions = [judge.question(case.query, case.item, rubric) for case in cases]
    with Progress(f"probing {judge.name}", total=len(cases)) as progress:
        answers = answer_questions_here(
            judge, questions, limits, clock=utc_now, observe=progress.advance
        )
    named = {
        "judge": judge.name,
        "digest": judge.digest,
        "mode": judge.mode.value,
        "parameters": dict(judge.parameters),
    }
    return _Answered(named, answers.verdicts, _cost(answers.report), answers.report.stop)


def _make_judge(options: LlmOptions, db: str | None) -> LlmJudge:
    import os

    from labeler.judges.llm.setup import judge_of
    from labeler.store.location import find_location

    location = find_location(db, os.environ, Path.cwd())
    if db is None and not location.is_postgresql and not location.path.is_file():
        return judge_of(options)
    with open_project(db) as store, store.read() as connection:
        return judge_of(options, connection)


def _warn(judge: LlmJudge) -> None:
    if judge.weights is not None:
        from labeler.providers.embedded_language_model import NOTICE

        tell(NOTICE)


def _cost(report: LlmReport) -> dict[str, object]:
    return {
        "http_requests": report.requests,
        "retries": report.retries,
        "prompt_tokens": report.prompt_tokens,
        "completion_tokens": report.completion_tokens,
        "cost_usd": None if report.unpriced and not report.cost else round(report.cost, 6),
    }


def _report(
    facts: Mapping[str, object],
    cases: Sequence[ProbeCase],
    answered: _Answered,
    described: Mapping[str, str],
    seconds: float,
    *,
    json: bool,
) -> int:
    """Print what came of it and give the exit code; what ended the run early is raised last."""
    from labeler.cli.judge_probe_output import as_json, print_report
    from labeler.judges.probing import probe_report

    if answered.stop is not None and not answered.verdicts:
        raise answered.stop
    report = probe_report(cases, answered.verdicts, described)
    cost = {**answered.cost, "seconds": seconds}
    if json:
        print_json({**facts, **as_json(report), **cost})
    else:
        print_report(facts, report, cost)
    if answered.stop is not None:
        raise answered.stop
    if report.lost:
        tell(f"answers that are missing (refused, cut off or failed): {report.lost}")
    return ExitCode.FAILED_ITEMS if report.lost else ExitCode.DONE
