"""How often an audit decides the reversal of TREC DL 2019 rightly, wrongly, or not at all.

    python -m tests.benchmarks.reversal [--repeats 100] [--votes 60]

Prints one line for each number of votes. It reads the collection as tests do: LABELER_DATA names
its parent folder.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from labeler.evaluation.gate_checks import Answer, answer_check
from tests.benchmarks.measuring import collection
from tests.reversal import (
    ASKED,
    BASELINE,
    CANDIDATE,
    audited,
    evidence_before,
    load_reversal,
    mean_precision,
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--votes", type=int, nargs="*", default=[60])
    options = parser.parse_args(arguments)
    reversal = load_reversal(Path(collection("trec-dl-2019")))
    before = evidence_before(reversal)
    known, truth = reversal.evaluated, reversal.under_truth()
    print(f"unknown items of the frame: {len(reversal.unknown)} of {int(reversal.in_frame.sum())}")
    for name, evaluated in (("unknown as not relevant", known), ("NIST", truth)):
        values = [f"{run} {mean_precision(evaluated, run):.3f}" for run in (BASELINE, CANDIDATE)]
        print(f"P@10, {name}: {', '.join(values)}")
    print(f"before any audit: {answer_check(ASKED, before).answer.value}")
    for votes in options.votes:
        found = Counter(audited(reversal, votes, seed).answer for seed in range(options.repeats))
        right, wrong = found[Answer.PASS], found[Answer.FAIL]
        print(
            f"{votes} votes, {options.repeats} seeded draws: right {right}, wrong {wrong}, "
            f"undecided {options.repeats - right - wrong}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
