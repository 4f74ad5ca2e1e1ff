"""A gate's rule file: what a release must show, written down before anybody sees the results."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from labeler.errors import Fault, InputError
from labeler.evaluation.gate_checks import Direction, Requirement, Role
from labeler.evaluation.intervals import LEAST_CLUSTERS
from labeler.formats.text_file import read_text_file

__all__ = ["ALL_QUERIES", "Check", "GateFile", "LabelSource", "MetricName", "parse_gate"]

ALL_QUERIES = "all"
"""The slice that holds every query."""

_METRIC = re.compile(r"(?P<name>latency_p[0-9]{2}|[A-Za-z_]+)(@(?P<k>[1-9][0-9]*))?")

_WITH_CUTOFF = {
    "P",
    "recall",
    "pooled_recall",
    "nDCG",
    "domain_accuracy",
    "required_evidence_coverage",
}
_WITHOUT_CUTOFF = {"MRR", "latency_p50", "latency_p95"}
_OWN = {"name", "pool", "candidate", "baseline", "labels", "defaults", "check"}
_COMMON = {"alpha", "least_clusters", "least_coverage", "least_positives", "least_agreement"}
_OF_CHECK = {"name", "metric", "slice", "role", "boundary", "direction", "compare"} | _COMMON
_SOURCES = ("human", "human+auto")

LabelSource = str
"""``human`` or ``human+auto``."""


@dataclass(frozen=True, slots=True)
class MetricName:
    """A metric as a gate file names it, such as ``P@5``, ``MRR`` or ``latency_p95``.

    Attributes:
        name: Without the cutoff.
        cutoff: The cutoff k, or None.
    """

    name: str
    cutoff: int | None = None

    def __str__(self) -> str:
        return self.name if self.cutoff is None else f"{self.name}@{self.cutoff}"

    @property
    def is_latency(self) -> bool:
        """Whether it is a quantile of latencies, in milliseconds."""
        return self.name.startswith("latency_")

    @property
    def is_of_labels(self) -> bool:
        """Whether it depends on what is judged relevant."""
        return self.name in {"P", "MRR", "recall", "nDCG", "pooled_recall"}

    @property
    def is_pooled(self) -> bool:
        """Whether it is one number over all queries together, and no mean over queries."""
        return self.name == "pooled_recall"

    @property
    def quantile(self) -> float:
        """The quantile of a latency, in (0, 1)."""
        return int(self.name.removeprefix("latency_p")) / 100


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a gate.

    Attributes:
        name: What it is called.
        metric: The metric.
        slice: ``all``, a slice's name, ``domain:NAME`` or ``language:TAG``.
        against_baseline: Whether the metric is that of the candidate less the baseline's.
        asked: What it asks for.
    """

    name: str
    metric: MetricName
    slice: str
    against_baseline: bool
    asked: Requirement


@dataclass(frozen=True, slots=True)
class GateFile:
    """A gate as it stands in its file.

    Attributes:
        name: The gate's name.
        pool: The pool whose queries and items it speaks of.
        candidate: The run that is to be released.
        baseline: The run that it is compared with, or None.
        labels: Whose labels count: ``human`` or ``human+auto``.
        checks: In the order of the file.
        text: The file as it was read.
    """

    name: str
    pool: str
    candidate: str
    baseline: str | None
    labels: LabelSource
    checks: tuple[Check, ...]
    text: str

    @property
    def digest(self) -> str:
        """The SHA-256 of everything that decides, whatever comments and blanks the file has."""
        content = [self.name, self.pool, self.candidate, self.baseline, self.labels]
        rules = [asdict(check) for check in self.checks]
        return hashlib.sha256(json.dumps([content, rules], sort_keys=True).encode()).hexdigest()


def parse_gate(path: Path) -> GateFile:
    """Read a gate file.

    Raises:
        InputError: When it is no gate; every fault is listed.
    """
    return _Reader(str(path), read_text_file(path)).read()


class _Reader:
    """Reads one file and gathers its faults."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._text = text
        self._problems: list[str] = []

    def read(self) -> GateFile:
        try:
            table: Mapping[str, Any] = tomllib.loads(self._text)
        except tomllib.TOMLDecodeError as error:
            raise self._error([f"this is no TOML file: {error}"]) from None
        self._refuse_unknown(table, _OWN, "the file")
        name, pool, candidate = (
            self._word(table, key, "the file") for key in ("name", "pool", "candidate")
        )
        baseline = self._word(table, "baseline", "the file") if "baseline" in table else None
        labels = str(table.get("labels", _SOURCES[0]))
        if labels not in _SOURCES:
            self._problems.append(f"labels is {' or '.join(_SOURCES)}, not '{labels}'")
        defaults = table.get("defaults", {})
        self._refuse_unknown(defaults, _COMMON, "defaults")
        rows = table.get("check", [])
        if not isinstance(rows, list) or not rows:
            self._problems.append("there is no [[check]]")
            rows = []
        common = defaults if isinstance(defaults, dict) else {}
        checks = [
            self._check(row if isinstance(row, dict) else {}, common, number, baseline)
            for number, row in enumerate(rows, 1)
        ]
        names = [check.name for check in checks if check is not None]
        for twice in sorted({one for one in names if names.count(one) > 1}):
            self._problems.append(f"two checks are called '{twice}'")
        if self._problems:
            raise self._error(self._problems)
        kept = tuple(check for check in checks if check is not None)
        return GateFile(name, pool, candidate, baseline, labels, kept, self._text)

    def _error(self, problems: list[str]) -> InputError:
        return InputError(
            [Fault(self._path, None, problem) for problem in problems],
            hint="docs/gate.md shows what a gate file holds",
        )

    def _refuse_unknown(self, table: object, known: set[str], where: str) -> None:
        if not isinstance(table, dict):
            self._problems.append(f"{where} is no table")
            return
        for key in sorted(set(table) - known):
            self._problems.append(f"{where} has '{key}'; known are {', '.join(sorted(known))}")

    def _word(self, table: Mapping[str, Any], key: str, where: str) -> str:
        value = table.get(key)
        if not isinstance(value, str) or not value.strip():
            self._problems.append(f"{where} lacks '{key}', a word")
            return ""
        return value

    def _check(
        self, own: Mapping[str, Any], common: Mapping[str, Any], number: int, baseline: str | None
    ) -> Check | None:
        where = f"check {number}"
        before = len(self._problems)
        self._refuse_unknown(own, _OF_CHECK, where)
        row = {**common, **own}
        metric = self._metric(row, where)
        compare = row.get("compare")
        if compare not in {None, "baseline"}:
            self._problems.append(f"{where}: compare is 'baseline' or left out, not '{compare}'")
        if compare == "baseline" and baseline is None:
            self._problems.append(f"{where} compares with the baseline, and the file names none")
        asked = self._requirement(row, where)
        if len(self._problems) > before or metric is None or asked is None:
            return None
        against = compare == "baseline"
        if against and metric.is_latency:
            self._problems.append(f"{where}: latencies are compared with a boundary, not a run")
        slice_name = str(row.get("slice", ALL_QUERIES))
        default = f"{metric}{' against the baseline' if against else ''}"
        default += "" if slice_name == ALL_QUERIES else f" on {slice_name}"
        return Check(str(row.get("name", default)), metric, slice_name, against, asked)

    def _metric(self, row: Mapping[str, Any], where: str) -> MetricName | None:
        text = self._word(row, "metric", where)
        found = _METRIC.fullmatch(text)
        name, k = (found["name"], found["k"]) if found is not None else ("", None)
        if (name in _WITH_CUTOFF and k) or (name in _WITHOUT_CUTOFF and not k):
            return MetricName(name, int(k) if k else None)
        known = ", ".join(sorted({f"{one}@k" for one in _WITH_CUTOFF} | _WITHOUT_CUTOFF))
        self._problems.append(f"{where}: '{text}' is no metric; there are {known}")
        return None

    def _requirement(self, row: Mapping[str, Any], where: str) -> Requirement | None:
        before = len(self._problems)
        role = self._one_of(row, "role", [one.value for one in Role], where)
        direction = self._one_of(row, "direction", [one.value for one in Direction], where)
        boundary = self._number(row, "boundary", where, None, -1e12, 1e12)
        alpha = self._number(row, "alpha", where, 0.05, 1e-6, 0.25)
        coverage = self._number(row, "least_coverage", where, 0.0, 0.0, 1.0)
        clusters = self._number(row, "least_clusters", where, LEAST_CLUSTERS, LEAST_CLUSTERS, 1e9)
        positives = self._number(row, "least_positives", where, 10, 0, 1e9)
        agreement = (
            self._number(row, "least_agreement", where, None, -1.0, 1.0)
            if "least_agreement" in row
            else None
        )
        if len(self._problems) > before:
            return None
        return Requirement(
            role=Role(role),
            boundary=boundary,
            direction=Direction(direction),
            alpha=alpha,
            least_clusters=int(clusters),
            least_coverage=coverage,
            least_positives=int(positives),
            least_agreement=agreement,
        )

    def _one_of(self, row: Mapping[str, Any], key: str, known: list[str], where: str) -> str:
        value = row.get(key)
        if value not in known:
            self._problems.append(f"{where}: {key} is {' or '.join(known)}, not {value!r}")
        return str(value)

    def _number(
        self,
        row: Mapping[str, Any],
        key: str,
        where: str,
        default: float | None,
        least: float,
        most: float,
    ) -> float:
        value = row.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._problems.append(f"{where}: {key} is a number, not {value!r}")
            return 0.0
        if not least <= value <= most:
            self._problems.append(f"{where}: {key} is from {least:g} to {most:g}, not {value:g}")
        return float(value)
