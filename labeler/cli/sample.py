"""`labeler sample`: how many votes a decision needs, which items, and what they say so far."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from labeler.cli.output import print_json, program, tell, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.cli.sealing import open_named, open_shown, tell_seals

if TYPE_CHECKING:
    from labeler.sampling.plan import SampleOptions
    from labeler.sampling.population import Population
    from labeler.sealing.openings import Seal
    from labeler.store.database import Store

app = App(
    name="sample",
    help="Draw samples with recorded probabilities, and estimate from them.\n\n"
    "What nobody labelled is unknown. A sample of it, drawn by chance and answered by people, says "
    "how much of it is relevant, and for which run; docs/sampling.md says how.",
)

Runs = Annotated[
    tuple[str, ...],
    Parameter(
        name="--runs",
        consume_multiple=True,
        negative="",
        help="The runs to compare, 1 to 4 of the pool's, the first with each other one; "
        "all of them by default.",
    ),
]
K = Annotated[int, Parameter(name="--k", help="The cutoff.")]
Relevant = Annotated[
    Literal["partially", "fully"],
    Parameter(name="--relevant", help="The least grade that counts as relevant."),
]
Votes = Annotated[int | None, Parameter(name="--votes", help="How many items; 60 by default.")]
Measure = Annotated[
    Literal["recall", "recall_difference", "precision", "precision_difference"] | None,
    Parameter(
        name="--measure",
        help="What the sample is to tell best, and what the target width is of: of the first run, "
        "or of the first less the others. By default recall and its differences, for all runs.",
    ),
]
TargetWidth = Annotated[
    float | None,
    Parameter(
        name="--target-width",
        help="How wide the 95% interval may be, from end to end; decides the votes.",
    ),
]
Seed = Annotated[
    str | None, Parameter(name="--seed", help="Decides what is drawn; the frame by default.")
]


@app.command
def plan(
    pool: str,
    /,
    *,
    runs: Runs = (),
    k: K = 10,
    relevant: Relevant = "partially",
    votes: Votes = None,
    measure: Measure = None,
    target_width: TargetWidth = None,
    seed: Seed = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Tell which items a sample would be drawn from, how, and how narrow it makes each interval.

    Nothing is stored. With --target-width it tells how many votes a decision needs, before anybody
    votes.
    """
    from labeler.cli.sample_plan import plan_as_json, print_plan
    from labeler.sampling.plan import plan_sample

    wanted = _options(pool, runs, k, relevant, votes, measure, target_width, seed)
    with open_project(db) as store, working("planning"):
        with store.read() as connection:
            planned = plan_sample(connection, wanted)
        seals = _opened(store, "sample plan", planned.population)
    if json:
        print_json(plan_as_json(planned) | {"sealed": [seal.facts() for seal in seals]})
        return
    print_plan(planned)
    tell_seals(seals)
    given = "".join(f" --runs {quote(run)}" for run in planned.population.comparison.runs)
    options = {
        "--relevant": None if relevant == "partially" else relevant,
        "--measure": measure,
        "--seed": None if seed is None else quote(seed),
    }
    more = "".join(f" {name} {value}" for name, value in options.items() if value is not None)
    drawn = f"sample draw {quote(pool)}{given} --k {k}{more} --votes {planned.votes}"
    print(f"next: {program()} {drawn}")


@app.command
def draw(
    pool: str,
    /,
    *,
    runs: Runs = (),
    k: K = 10,
    relevant: Relevant = "partially",
    votes: Votes = None,
    measure: Measure = None,
    target_width: TargetWidth = None,
    seed: Seed = None,
    name: str | None = None,
    continue_: Annotated[bool, Parameter(name="--continue", negative="")] = False,
    outside: Annotated[bool, Parameter(negative="")] = False,
    source: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Draw a sample, record it with its probabilities, and ask people for it.

    What is drawn stands in the queue like anything else.

    Parameters
    ----------
    name
        What to call the sample; the pool's name by default, with '-outside' for one outside it.
    continue_
        Draw more of the sample of that name, as its next phase. Everything but --votes is as it
        was.
    outside
        Draw pairs of the pool's queries and evidence that the pool doesn't hold for them: what all
        runs missed.
    source
        With --outside: only evidence of such documents, each a stratum of its own:
        domain=billing; also product, region, language, source. Repeatable, for one field.
    """
    from labeler.cli.sample_plan import tell_draw
    from labeler.errors import UsageError
    from labeler.queue.sampled import ask_for_sample
    from labeler.sampling.draw import continue_sample, draw_sample
    from labeler.sampling.outside import draw_outside

    options = _options(pool, runs, k, relevant, votes, measure, target_width, seed)
    called = name or (f"{pool}-outside" if outside else pool)
    if continue_ and outside:
        raise UsageError("--continue and --outside don't go together")
    if source and not outside:
        raise UsageError("--source goes with --outside")
    planned = None
    with open_project(db) as store, working("drawing"):
        if continue_:
            if votes is None:
                raise UsageError("--continue needs --votes: how many more")
            report = continue_sample(store, called, votes, ask_for_sample)
        elif outside:
            report = draw_outside(store, called, options, _sources(source), ask_for_sample)
        else:
            report, planned = draw_sample(store, called, options, ask_for_sample)
        shown = None if planned is None or json else planned.population
        seals = [] if shown is None else _opened(store, "sample draw", shown)
    tell_draw(report, planned, json=json)
    tell_seals(seals)


@app.command
def status(
    name: str | None = None,
    /,
    *,
    veto: Annotated[bool, Parameter(negative="")] = False,
    as_of: int | None = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Tell how far a sample is, and what it says so far; without a name, list the samples.

    Parameters
    ----------
    veto
        Make exact, conservative intervals, as a veto needs them.
    as_of
        The state after this revision; now by default.
    """
    from labeler.cli.sample_status import print_status, status_as_json
    from labeler.sampling.status import read_status
    from labeler.sampling.stored import read_sample, sample_names

    with open_project(db) as store, working("estimating"):
        with store.read() as connection:
            if name is None:
                names = sample_names(connection)
            else:
                found = read_status(connection, name, as_of=as_of, veto=veto)
                compared = read_sample(connection, name).design.comparison
        if name is not None:
            pool, runs = compared.pool, compared.runs
            seals = open_shown(store, "sample status", pool=pool, runs=runs, as_of=as_of)
    if name is None:
        if json:
            print_json({"samples": names})
        else:
            print("\n".join(names) or f"no samples yet: {program()} sample plan POOL")
    elif json:
        print_json(status_as_json(found) | {"sealed": [seal.facts() for seal in seals]})
    else:
        print_status(found)
        tell_seals(seals)


@app.command
def queries(
    *,
    n: Annotated[int, Parameter(name="--n")] = 100,
    domain: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    low_score: float | None = None,
    name: str = "queries",
    seed: str = "1",
    output: Path | None = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Draw queries from the imported logs, by stratum, with recorded probabilities.

    Strata are made of domain, how often a query was asked, whether it is so short that it may be
    ambiguous, and whether it was left without a click or with a low score. What logs hold comes by
    `labeler import queries --from-log`.

    Parameters
    ----------
    n
        How many queries.
    domain
        Only of these domains; repeatable.
    low_score
        A mean score below this counts as low; the lowest quarter of what is stated by default.
    name
        What to call the draw. The same name and options again change nothing.
    seed
        Decides what is drawn.
    output
        Write the queries to this file as JSON lines: id, text, stratum, probability and weight.
    """
    from labeler.cli.sample_status import print_query_draw, write_query_draw
    from labeler.sampling.queries import QuerySampleOptions, draw_queries

    options = QuerySampleOptions(name, n, seed, domain, low_score)
    with open_project(db) as store, working("drawing queries"):
        report = draw_queries(store, options)
        names = {one.id for one in report.queries} if json or output is not None else set()
        seals = open_named(store, "sample queries", names)
    if output is not None:
        write_query_draw(report, output)
    if json:
        print_json(asdict(report) | {"sealed": [seal.facts() for seal in seals]})
        return
    print_query_draw(report)
    if output is not None:
        tell(f"{len(report.queries):,} queries written to {output}")
    tell_seals(seals)


def _opened(store: Store, through: str, population: Population) -> list[Seal]:
    """Record a look at what is labelled already; where nothing is, nothing is told of it."""
    if not sum(population.known.values()):
        return []
    compared = population.comparison
    return open_shown(store, through, pool=compared.pool, runs=compared.runs)


def _options(
    pool: str,
    runs: tuple[str, ...],
    k: int,
    relevant: str,
    votes: int | None,
    measure: str | None,
    target_width: float | None,
    seed: str | None,
) -> SampleOptions:
    from labeler.evaluation.sample_estimates import Estimand
    from labeler.labels import Grade
    from labeler.sampling.plan import SampleOptions
    from labeler.sampling.population import Comparison

    least = Grade.FULLY_RELEVANT if relevant == "fully" else Grade.PARTIALLY_RELEVANT
    return SampleOptions(
        Comparison(pool, runs, k, least),
        votes=votes,
        measure=None if measure is None else Estimand(measure),
        target_width=target_width,
        seed=seed,
    )


def _sources(pairs: tuple[str, ...]) -> dict[str, list[str]]:
    from labeler.errors import UsageError

    found: dict[str, list[str]] = defaultdict(list)
    for pair in pairs:
        field, equals, value = pair.partition("=")
        if not equals or not value.strip():
            raise UsageError(f"--source takes FIELD=VALUE, not '{pair}'", hint="domain=billing")
        found[field.strip()].append(value.strip())
    return dict(found)
