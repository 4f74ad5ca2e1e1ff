"""What `labeler judge run` does with the embedded judge."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from labeler.cli.output import Progress, print_facts, print_json
from labeler.cli.project import open_project
from labeler.errors import ExitCode


@dataclass(frozen=True, slots=True)
class EmbeddedRun:
    """One call of the command."""

    pool: str
    coefficients: Path | None
    threads: int | None

    def run(self, *, db: str | None, json: bool) -> int:
        """Judge the pool and print what came of it."""
        from labeler.judges.by_name import judge_named
        from labeler.judges.run import judge_pool, read_pool_blocks

        with open_project(db) as store:
            with store.read() as connection:
                pooled = read_pool_blocks(connection, self.pool)
            named, kind = judge_named(
                "embedded",
                store,
                pooled,
                coefficients=self.coefficients,
                threads=self.threads,
            )
            started = time.monotonic()
            with Progress(f"judging {self.pool}") as progress:
                report = judge_pool(
                    store, pooled, named, kind, advance=progress.advance, monotonic=time.monotonic
                )
            seconds = time.monotonic() - started
        origin = "shipped coefficients" if self.coefficients is None else str(self.coefficients)
        counts = {**report.outcomes, **report.grades, "flagged": report.flagged}
        if json:
            print_json(
                {
                    "pool": self.pool,
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
                    f"({', '.join(sorted(named.models))}), and the judge favours what that run "
                    "finds"
                )
        return ExitCode.FAILED_ITEMS if report.failed else ExitCode.DONE
