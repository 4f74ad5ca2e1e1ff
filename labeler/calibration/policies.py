"""Acceptance policies: when a judge's label is taken without a person.

A policy is a TOML file:

```toml
name = "uncalibrated"
threshold = 0.95            # the least confidence that is accepted, above 0.5 and up to 1
accept = ["not_relevant"]   # the grades that may be accepted; all of them by default
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


@dataclass(frozen=True, slots=True)
class Policy:
    """A plain threshold on the confidence of a judge.

    Attributes:
        name: What decisions state as their policy.
        threshold: The least confidence that is accepted, above 0.5 and up to 1.
        accept: The grades that may be accepted without a person.
    """

    name: str
    threshold: float
    accept: tuple[Grade, ...] = tuple(Grade)

    def to_json(self) -> str:
        """Write the policy as canonical JSON, as it is stored with what it decided."""
        content = {
            "name": self.name,
            "threshold": self.threshold,
            "accept": sorted(grade.value for grade in self.accept),
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


def read_policy(path: Path) -> Policy:
    """Read a policy file.

    Raises:
        InputError: When the file can't be read as a policy.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeError, tomllib.TOMLDecodeError) as error:
        raise InputError([Fault(str(path), None, f"can't be read: {error}")]) from None
    faults: list[str] = []
    name, threshold = content.get("name"), content.get("threshold")
    accept = content.get("accept", list(Grade))
    if not isinstance(name, str) or not name:
        faults.append("'name' is missing; it is a text")
    if isinstance(threshold, bool) or not isinstance(threshold, int | float):
        faults.append("'threshold' is missing; it is a number above 0.5 and up to 1")
    elif not _LEAST < threshold <= 1:
        faults.append(f"the threshold {threshold} is not above 0.5 and up to 1")
    if not isinstance(accept, list) or any(grade not in list(Grade) for grade in accept):
        faults.append(f"'accept' is a list of grades: {', '.join(Grade)}")
    if unknown := sorted(set(content) - {"name", "threshold", "accept"}):
        faults.append(f"'{unknown[0]}' is unknown; a policy has name, threshold and accept")
    if faults:
        raise InputError([Fault(str(path), None, fault) for fault in faults])
    return Policy(str(name), float(str(threshold)), tuple(Grade(grade) for grade in accept))
