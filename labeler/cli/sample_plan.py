"""What `labeler sample plan` and `labeler sample draw` print."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from labeler.cli.output import print_facts, print_json, print_table, program

if TYPE_CHECKING:
    from labeler.sampling.draw import DrawReport
    from labeler.sampling.plan import PlannedSample

__all__ = ["plan_as_json", "print_plan", "tell_draw"]


def plan_as_json(planned: PlannedSample) -> dict[str, object]:
    """Give a plan as plain values."""
    population = planned.population
    return {
        "frame": planned.frame,
        "frame_digest": planned.digest,
        "seed": planned.seed,
        "pool": population.comparison.pool,
        "runs": list(population.comparison.runs),
        "k": population.comparison.k,
        "queries": population.queries,
        "unknown": len(population.units),
        "known": sum(population.known.values()),
        "known_relevant": sum(population.known_relevant.values()),
        "abstained": population.abstained,
        "without_text": population.without_text,
        "votes": planned.votes,
        "tells_best": planned.measure,
        "rates_assumed_from": planned.rates_from,
        "strata": [
            {
                "name": part.name,
                "retrieved": list(part.retrieved),
                "size": len(part.items),
                "draw": count,
                "expected_rate": part.rate,
            }
            for part, count in zip(planned.strata, planned.counts, strict=True)
        ],
        "expected": [asdict(one) for one in planned.expected],
    }


def print_plan(planned: PlannedSample) -> None:
    """Print a plan: frame, strata, widths."""
    population = planned.population
    print_facts(
        {
            "frame": planned.frame,
            "seed": planned.seed[:16],
            "labelled already": f"{sum(population.known.values()):,}, "
            f"{sum(population.known_relevant.values()):,} of them relevant",
            "can't be judged": population.abstained + population.without_text,
            "votes": planned.votes,
            "tells best": planned.measure or "recall and its differences, for all runs",
            "shares assumed from": planned.rates_from,
        }
    )
    print()
    print_table(
        ["stratum", "items", "draw", "probability", "assumed share"],
        [
            [part.name, len(part.items), count, count / len(part.items), part.rate]
            for part, count in zip(planned.strata, planned.counts, strict=True)
        ],
    )
    print()
    print_table(
        ["measure", "run", "less", "expected width of the 95% interval"],
        [[one.measure, one.first, one.second or "-", one.width] for one in planned.expected],
    )


def tell_draw(report: DrawReport, planned: PlannedSample | None, *, json: bool) -> None:
    """Print what was drawn, and what to do next."""
    if json:
        print_json(
            {
                "name": report.name,
                "frame": report.frame,
                "phase": report.phase,
                "drawn": report.drawn,
                "revision": report.revision,
                "strata": [
                    {"name": name, "size": size, "draw": count, "drawn_before": before}
                    for name, size, count, before in report.strata
                ],
            }
        )
        return
    if planned is not None:
        print_plan(planned)
    else:
        print_facts({"frame": report.frame})
        print()
        print_table(
            ["stratum", "items", "drawn now", "drawn before"], [list(row) for row in report.strata]
        )
    print()
    print_facts({"sample": report.name, "phase": report.phase, "drawn": report.drawn})
    print(f"next: {program()} review; then {program()} sample status {report.name}")
