"""Acceptance policies: when a judge's label is taken without a person.

A policy is a TOML file:

```toml
name = "uncalibrated"
threshold = 0.95            # the least confidence that is accepted, above 0.5 and up to 1
accept = ["not_relevant"]   # the grades that may be accepted; all of them by default
overlap = 1                 # how many people's votes each item gets that goes to people

[audit]                     # what is accepted without a person is audited by a random draw
target = 0.9                # the share of right labels that the audit must be able to show
confidence = 0.95
```
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

from labeler.errors import Fault, InputError
from labeler.labels import Grade

__all__ = ["UNCALIBRATED", "Policy", "read_policy"]


@dataclass(frozen=True)
class Policy:
    """A plain threshold on the confidence of a judge, and the audit of what it accepts.

    Attributes:
        name: What decisions state as their policy.
        threshold: The least confidence that is accepted, above 0.5 and up to 1.
        accept: The grades that may be accepted without a person.
        target: The share of right labels among the accepted that the audit must be able to show.
        confidence: At which confidence.
        overlap: How many people vote on an item that goes to people, 1 or more.
    """

    name: str
    threshold: float
    accept: tuple[Grade, ...] = tuple(Grade)
    target: float = 0.9
    confidence: float = 0.95
    overlap: int = 1

    def to_json(self) -> str:
        """Write the policy as canonical JSON, as it is stored with what it decided."""
        content = {
            "name": self.name,
            "threshold": self.threshold,
            "accept": sorted(grade.value for grade in self.accept),
            "audit": {"target": self.target, "confidence": self.confidence},
            "overlap": self.overlap,
        }
        return json.dumps(content, sort_keys=True)

    @property
    def digest(self) -> str:
        """The SHA-256 of the content."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def accepts(self, grade: Grade, confidence: float | None) -> bool:
        """Decide whether a label is taken without a person; no confidence is never enough."""
        return grade in self.accept and confidence is not None and confidence >= self.threshold


UNCALIBRATED = Policy("uncalibrated", 0.95)
"""The shipped policy: a plain threshold on confidences that nobody calibrated on this project."""

_LEAST = 0.5
_KNOWN = {"name", "threshold", "accept", "overlap", "audit"}


def read_policy(path: Path) -> Policy:
    """Read a policy file.

    Raises:
        InputError: When the file can't be read as a policy.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeError, tomllib.TOMLDecodeError) as error:
        raise InputError([Fault(str(path), None, f"can't be read: {error}")]) from None
    audit = content.get("audit", {})
    audit = audit if isinstance(audit, dict) else {"target": None}
    name, accept = content.get("name"), content.get("accept", list(Grade))
    overlap = content.get("overlap", 1)
    faults: list[str] = []
    if not isinstance(name, str) or not name:
        faults.append("'name' is missing; it is a text")
    if not _between(content.get("threshold"), _LEAST, 1.0, closed=True):
        faults.append(f"the threshold is above 0.5 and up to 1, not {content.get('threshold')}")
    if not isinstance(accept, list) or any(grade not in list(Grade) for grade in accept):
        faults.append(f"'accept' is a list of grades: {', '.join(Grade)}")
    if isinstance(overlap, bool) or not isinstance(overlap, int) or overlap < 1:
        faults.append(f"the overlap is a whole number of 1 or more, not {overlap}")
    faults += [
        f"the audit's {part} lies between 0 and 1, not {audit[part]}"
        for part in ("target", "confidence")
        if part in audit and not _between(audit[part], 0.0, 1.0)
    ]
    if unknown := sorted({*set(content) - _KNOWN, *set(audit) - {"target", "confidence"}}):
        faults.append(f"'{unknown[0]}' is unknown; docs/files.md shows a policy")
    if faults:
        raise InputError([Fault(str(path), None, fault) for fault in faults])
    return Policy(
        name=str(name),
        threshold=float(content["threshold"]),
        accept=tuple(Grade(grade) for grade in accept),
        target=float(audit.get("target", Policy.target)),
        confidence=float(audit.get("confidence", Policy.confidence)),
        overlap=int(overlap),
    )


def _between(value: object, low: float, high: float, *, closed: bool = False) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return low < value < high or (closed and value == high)
