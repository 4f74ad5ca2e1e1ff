"""`labeler generate`: questions from documents that are safe to use."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from labeler.cli.generate_summary import print_plan, print_summary, summary_facts
from labeler.cli.output import Progress, print_json, tell
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from labeler.store.database import Store
    from labeler.synthesis.admission import Admitted
    from labeler.synthesis.run_report import GenerateReport
    from labeler.synthesis.setup import GenerateOptions, Ground

app = App(
    name="generate",
    help="Write questions from documents that are safe to use, and show what became of them.",
    help_format="plaintext",
)
for _module, _commands in {
    "questions": {
        "list": "List generated questions.",
        "show": "Show one question with all that was found about it.",
        "report": "Tell what filters and people made of the questions, and what they cost.",
    },
    "afterwards": {
        "admit": "Make queries of accepted questions.",
        "refit": "Fit the filters' thresholds to what people said.",
        "pack": "Write the safe pack to a file.",
        "blind": "Write accepted and turned-down questions, mixed, for a blind reading.",
    },
}.items():
    for _name, _help in _commands.items():
        app.command(f"labeler.cli.generate_{_module}:{_name}_command", name=_name, help=_help)

Words = Annotated[tuple[str, ...], Parameter(consume_multiple=False, negative="")]


@app.default
def generate(
    *,
    domain: Words = (),
    per_domain: int = 10,
    kinds: str = "factual",
    model: str | None = None,
    judge: str | None = None,
    persona: Words = (),
    language: str = "",
    seed: int = 0,
    split: str | None = None,
    review_share: float = 0.2,
    endpoint: str | None = None,
    price: str | None = None,
    judge_price: str | None = None,
    max_cost: float | None = None,
    max_concurrency: int = 16,
    rpm: float | None = None,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    db: Database = None,
    json: JsonOutput = False,
) -> int:
    """Write questions from the documents of train and dev, filter them, and make queries of them.

    It needs a frozen split. The texts of train and dev alone go to a file, the safe pack; a process
    without the database reads it and asks the model. Which texts it is shown is recorded first.
    The same command goes on where it stopped and pays for no answer twice. docs/generation.md says
    what each filter looks at.

    Parameters
    ----------
    domain
        A domain; may be given several times. All domains of train and dev by default.
    per_domain
        How many questions each domain gets that pass every filter.
    kinds
        factual, conditional, procedural, comparison, paraphrase, unanswerable; several with commas.
        The embedded model writes factual ones only.
    model
        The model that writes, as litellm names it; the embedded one by default, which needs no key.
    judge
        Another model that is asked whether each question can be answered from its source; the
        embedded judge by default.
    persona
        Who is to be asking, in a few words; may be given several times, and they take turns.
    language
        The language of the questions, such as en or pt-BR; that of their sources by default.
    seed
        Decides between sources that are equal otherwise.
    split
        The split's name; the newest by default.
    review_share
        Which share of the accepted questions people look at before they become queries.
    endpoint
        The address of the provider where it isn't the usual one.
    price
        US dollars for a million tokens in and out of the model, such as 0.15,0.60.
    judge_price
        The same for the judge.
    max_cost
        US dollars that the run may cost, for both models together.
    max_concurrency
        The most requests in flight.
    rpm
        The most requests a minute.
    dry_run
        Only tell what would be asked.
    """
    from labeler.synthesis.setup import DEFAULT_MODEL, lay_ground

    with open_project(db) as store:
        options = _options(
            store,
            (model or DEFAULT_MODEL, judge, endpoint),
            (price, judge_price, max_cost, max_concurrency, rpm),
            {
                "per_domain": per_domain,
                "domains": domain,
                "kinds": _kinds(kinds),
                "personas": persona,
                "language": language,
                "seed": seed,
                "split": split,
                "review_share": review_share,
            },
        )
        if dry_run:
            with store.read() as connection:
                ground = lay_ground(connection, split, None, None)
            print_plan(ground, options, json=json)
            return ExitCode.DONE
        ground = ground_of(store, split)
        _warn(store, options, ground)
        report, admitted = _run(store, ground, options)
        summary = summary_facts(report, admitted)
    if json:
        print_json(summary)
    else:
        print_summary(report, admitted)
    if report.stop is not None:
        raise report.stop
    short = any(one.accepted < one.wanted for one in report.domains)
    return ExitCode.FAILED_ITEMS if short else ExitCode.DONE


def _kinds(text: str) -> tuple[Any, ...]:
    from labeler.records.questions import QuestionKind

    words = [word.strip() for word in text.split(",") if word.strip()]
    unknown = [word for word in words if word not in list(QuestionKind)]
    if unknown:
        raise UsageError(
            f"--kinds doesn't know '{unknown[0]}'", hint=f"it takes {', '.join(QuestionKind)}"
        )
    return tuple(QuestionKind(word) for word in dict.fromkeys(words))


def _options(
    store: Store,
    models: tuple[str, str | None, str | None],
    limits: tuple[str | None, str | None, float | None, int, float | None],
    rest: dict[str, Any],
) -> GenerateOptions:
    from labeler.judges.llm.setup import find_price
    from labeler.providers.embedded_language_model import is_embedded
    from labeler.synthesis.limits import GenerateLimits
    from labeler.synthesis.setup import GenerateOptions, model_named

    name, judge, endpoint = models
    price, judge_price, max_cost, most, rpm = limits
    with store.read() as connection:
        generator = model_named(connection, name, endpoint)
        asked = None if judge is None else model_named(connection, judge, endpoint)
    # A model in this machine answers one request after the other; waiting counts as time.
    alone = is_embedded(name)
    wanted = GenerateLimits(
        max_concurrency=1 if alone else most,
        timeout=600.0 if alone else 60.0,
        requests_per_minute=rpm,
        max_cost=max_cost,
        price=find_price(name, price),
        judge_price=None if judge is None else find_price(judge, judge_price or price),
        price_is_given=price is not None,
    )
    return GenerateOptions(generator, asked, limits=wanted, **rest)


def ground_of(store: Store, split: str | None) -> Ground:
    """Read what a run stands on, with the embedded models that are installed."""
    from labeler.cli.generate_embedded import EmbeddedAnswerJudge, embedder_or_none
    from labeler.synthesis.frozen import split_to_use
    from labeler.synthesis.setup import lay_ground

    with store.read() as connection:
        split_to_use(connection, split)  # before anything heavy is loaded
    embedder = embedder_or_none(store)
    with Progress("reading the split, comparing queries"), store.read() as connection:
        ground = lay_ground(connection, split, embedder, None)
    if embedder is not None:
        statistics = ground.pack.lexical.statistics
        ground.measuring.judge = EmbeddedAnswerJudge(embedder, statistics)
    return ground


def _warn(store: Store, options: GenerateOptions, ground: Ground) -> None:
    from labeler.synthesis.families import shared_families
    from labeler.synthesis.summary import retriever_models

    if options.generator.is_embedded:
        from labeler.providers.embedded_language_model import NOTICE

        tell(NOTICE)
    with store.read() as connection:
        retrievers = retriever_models(connection)
    judge = ground.measuring.judge
    judges = frozenset({options.judge.name}) if options.judge else frozenset()
    if options.judge is None and judge is not None:
        judges = judge.models
    roles = {
        "generator": frozenset({options.generator.name}),
        "judge": judges,
        "retriever": retrievers,
    }
    for family, shared in shared_families(roles).items():
        tell(
            f"warning: {' and '.join(shared)} belong to one model family ({family}), so they may "
            "agree where they are wrong; questions and results that rest on both favour it"
        )


@contextmanager
def _counted_interrupts() -> Iterator[list[int]]:
    """Count Ctrl-C instead of ending the process; the run decides what comes of it."""
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


def _run(store: Store, ground: Ground, options: GenerateOptions) -> tuple[GenerateReport, Admitted]:
    from labeler.synthesis.admission import admit
    from labeler.synthesis.run import generate as run

    with (
        _counted_interrupts() as pressed,
        Progress(f"questions by {options.generator.name}") as progress,
    ):

        def observe(report: GenerateReport) -> None:
            # What earlier runs gave took no time now, so the estimate leaves it out.
            wanted = sum(max(one.wanted - one.before, 0) for one in report.domains)
            made = sum(one.accepted - one.before for one in report.domains)
            tried = sum(one.tried for one in report.domains)
            most = sum(one.candidates for one in report.domains)
            cost = f", ${report.counts.cost:.4f}" if report.counts.cost else ""
            stopping = ", stopping: waits for what is paid for" if pressed else ""
            progress.note = f"{tried:,} of {most:,} candidates asked for{cost}{stopping}"
            progress.advance(made, wanted)

        report = run(store, ground, options, interrupts=lambda: len(pressed), observe=observe)
    return report, admit(store, ground)
