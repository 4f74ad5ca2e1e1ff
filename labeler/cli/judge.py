"""`labeler judge`: have a pool judged."""

from __future__ import annotations

import time
from pathlib import Path

from cyclopts import App

from labeler.cli.output import Progress, print_facts, print_json
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.errors import ExitCode

_FIT = "Fit the embedded judge's coefficients on a labelled collection."
_EVALUATE = "Measure the embedded judge on a labelled collection."

app = App(name="judge", help="Have a pool judged.")
app.command("labeler.cli.judge_embedded:embedded_fit", name="embedded-fit", help=_FIT)
app.command(
    "labeler.cli.judge_embedded:embedded_evaluate", name="embedded-evaluate", help=_EVALUATE
)


@app.command
def run(
    pool: str,
    /,
    *,
    judge: str = "embedded",
    coefficients: Path | None = None,
    threads: int | None = None,
    db: Database = None,
    json: JsonOutput = False,
) -> int:
    """Have every item of a pool judged; a run that was stopped goes on where it stopped.

    Exit 3 when items failed.

    Parameters
    ----------
    pool
        The pool's name.
    judge
        The judge; 'embedded' runs on this machine and needs no key.
    coefficients
        Coefficients for the embedded judge, written by `embedded-fit`; the shipped ones by default.
    threads
        Threads for the embedded judge; as many as there are processors by default, 4 at most.
    """
    from labeler.judges.by_name import judge_named
    from labeler.judges.run import judge_pool, read_pool_blocks

    with open_project(db) as store:
        with store.read() as connection:
            pooled = read_pool_blocks(connection, pool)
        named, kind = judge_named(judge, store, pooled, coefficients=coefficients, threads=threads)
        started = time.monotonic()
        with Progress(f"judging {pool}") as progress:
            report = judge_pool(
                store, pooled, named, kind, advance=progress.advance, monotonic=time.monotonic
            )
        seconds = time.monotonic() - started
    origin = "shipped coefficients" if coefficients is None else str(coefficients)
    counts = {**report.outcomes, **report.grades, "flagged": report.flagged}
    if json:
        print_json(
            {
                "pool": pool,
                "judge": report.judge,
                "judgeDigest": report.judge_digest,
                "calibration": "uncalibrated",
                "items": report.items,
                "known": report.known,
                "unavailable": report.unavailable,
                "seconds": round(seconds, 1),
                "independence": report.circular,
                **counts,
            }
        )
    else:
        print_facts(
            {
                "judge": f"{report.judge} (uncalibrated: {origin})",
                "items": report.items,
                "judged before": report.known,
                **counts,
                "without text": report.unavailable,
                "seconds": round(seconds, 1),
            }
        )
        if report.circular == "circular":
            print(
                "these labels are marked circular: a pooled run names the judge's own model "
                f"({', '.join(sorted(named.models))}), and the judge favours what that run finds"
            )
    return ExitCode.FAILED_ITEMS if report.failed else ExitCode.DONE
