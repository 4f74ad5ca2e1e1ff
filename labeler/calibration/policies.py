"""Acceptance policies: when a judge's label is taken without a person.

A policy is a TOML file. One with a target accepts what an audit has shown to reach it:

```toml
name = "nine-of-ten"
accept = ["not_relevant"]   # the grades that may be accepted; all of them by default
overlap = 1                 # how many people's votes each item gets that goes to people

[target]
agreement = 0.9             # at least this share of the accepted labels agree with people,
confidence = 0.95           # at this confidence
looks = 1                   # how often the audit may go on with a further draw if it fell short
votes = 60                  # votes of the first draw; by default what the target needs

[target.by_grade]           # other shares for single grades
fully_relevant = 0.8
```

One with a threshold takes what judges say of their own confidence for granted:

```toml
name = "uncalibrated"
threshold = 0.95            # the least confidence that is accepted, above 0.5 and up to 1
accept = ["not_relevant"]
overlap = 1

[audit]                     # what is accepted without a person is audited by a random draw
target = 0.9                # the share of right labels that the audit must be able to show
confidence = 0.95
```
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labeler.errors import Fault, InputError
from labeler.formats.text_file import read_text_file
from labeler.labels import Grade

if TYPE_CHECKING:
    from labeler.assessment.item_scores import ItemScores

__all__ = [
    "NINE_OF_TEN",
    "UNCALIBRATED",
    "AnyPolicy",
    "Policy",
    "TargetPolicy",
    "parse_policy",
    "policy_in_force",
    "read_policy",
]


class _Named:
    """What all policies share: a name, and a digest of the content."""

    __slots__ = ()

    name: str
    overlap: int

    def to_json(self) -> str:
        """Write the policy as canonical JSON, as it is stored with what it decided."""
        return json.dumps(self._content(), sort_keys=True)

    @property
    def digest(self) -> str:
        """The SHA-256 of the content."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def _content(self) -> dict[str, object]:
        raise NotImplementedError


@dataclass(frozen=True)
class Policy(_Named):
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

    def _content(self) -> dict[str, object]:
        return {
            "name": self.name,
            "threshold": self.threshold,
            "accept": sorted(grade.value for grade in self.accept),
            "audit": {"target": self.target, "confidence": self.confidence},
            "overlap": self.overlap,
        }

    @property
    def promise(self) -> str:
        """What it says of the labels that it accepts, in words."""
        return f"what a judge is sure of with {self.threshold:g} or more is accepted; no target"

    def accepts(self, grade: Grade, confidence: float | None) -> bool:
        """Decide whether a label is taken without a person; no confidence is never enough."""
        return grade in self.accept and confidence is not None and confidence >= self.threshold


@dataclass(frozen=True)
class TargetPolicy(_Named):
    """A share of accepted labels that agree with people, which an audit has to show.

    Attributes:
        name: What decisions state as their policy.
        agreement: The least share of the accepted labels of each grade that have the grade that
            people would give, in (0, 1).
        confidence: The probability with which that holds, for all grades together, in [0.75, 1).
        by_grade: Other shares, for single grades.
        accept: The grades that may be accepted without a person.
        looks: How many draws the audit of one score version may take, one after the other, 1 or
            more; what may be mistaken is shared among them.
        votes: Votes of the first draw, shared among the grades; None is what the target needs.
        overlap: How many people vote on an item that goes to people, 1 or more.
    """

    name: str
    agreement: float = 0.9
    confidence: float = 0.95
    by_grade: tuple[tuple[Grade, float], ...] = ()
    accept: tuple[Grade, ...] = tuple(Grade)
    looks: int = 1
    votes: int | None = None
    overlap: int = 1

    def _content(self) -> dict[str, object]:
        return {
            "name": self.name,
            "accept": sorted(grade.value for grade in self.accept),
            "target": {
                "agreement": self.agreement,
                "confidence": self.confidence,
                "by_grade": {grade.value: share for grade, share in sorted(self.by_grade)},
                "looks": self.looks,
                "votes": self.votes,
            },
            "overlap": self.overlap,
        }

    @property
    def promise(self) -> str:
        """What it says of the labels that it accepts, in words."""
        others = "".join(f" ({share:.0%} of {grade})" for grade, share in self.by_grade)
        return (
            f"{self.agreement:.0%} of each grade's accepted labels{others} agree with people, "
            f"at {self.confidence:.0%} confidence"
        )

    def risk_of_each(self, grades: int) -> float:
        """Give what may be mistaken of one grade at one look, where so many grades are tested.

        What all of them together may get wrong is parted among them (Bonferroni).
        """
        return (1 - self.confidence) / max(1, grades) / self.looks

    def target_of(self, grade: Grade) -> float:
        """Give the share that labels of a grade have to reach."""
        return dict(self.by_grade).get(grade, self.agreement)


AnyPolicy = Policy | TargetPolicy

UNCALIBRATED = Policy("uncalibrated", 0.95)
"""The plain policy: a threshold on confidences that nobody calibrated on this project."""

NINE_OF_TEN = TargetPolicy("nine-of-ten")
"""The policy where none is named: of each grade's accepted labels, 90% agree with people."""

_LEAST_THRESHOLD = 0.5
_LEAST_CONFIDENCE = 0.75
_MOST_LOOKS = 10
_KNOWN = {"name", "accept", "overlap"}
_TARGET = {"agreement", "confidence", "by_grade", "looks", "votes"}
_AUDIT = {"target", "confidence"}


def policy_in_force(policy: AnyPolicy, scores: ItemScores | None) -> tuple[AnyPolicy, str]:
    """Give the policy that can be applied, and why it isn't the one that was asked for.

    One with a target needs calibrated scores: without them the plain threshold stays.
    """
    if isinstance(policy, Policy) or (scores is not None and scores.is_calibrated):
        return policy, ""
    if scores is None:
        why = "no scores: `labeler calibrate` fits them to people's labels"
    else:
        why = (
            f"the scores rest on {scores.labels} labels of people, and calibrated ones take 100, "
            "relevant and not relevant ones among them"
        )
    plain = replace(UNCALIBRATED, accept=policy.accept, overlap=policy.overlap)
    return plain, f"'{policy.name}' can't be applied yet: {why}"


def read_policy(path: Path) -> AnyPolicy:
    """Read a policy file.

    Raises:
        InputError: When the file can't be read as a policy.
    """
    try:
        content = tomllib.loads(read_text_file(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError([Fault(str(path), None, f"this is no TOML file: {error}")]) from None
    has_target = "target" in content
    faults = [*_shared_faults(content), *(_target_faults if has_target else _plain_faults)(content)]
    if faults:
        raise InputError([Fault(str(path), None, fault) for fault in faults])
    return _target_policy(content) if has_target else _plain_policy(content)


def parse_policy(body: str) -> AnyPolicy:
    """Read what a policy's ``to_json`` wrote, as it is stored with what it decided."""
    content = json.loads(body)
    return _target_policy(content) if "target" in content else _plain_policy(content)


def _shared_faults(content: Mapping[str, Any]) -> list[str]:
    name, accept = content.get("name"), content.get("accept", list(Grade))
    faults: list[str] = []
    if not isinstance(name, str) or not name:
        faults.append("'name' is missing; it is a text")
    if not isinstance(accept, list) or any(grade not in list(Grade) for grade in accept):
        faults.append(f"'accept' is a list of grades: {', '.join(Grade)}")
    if not _is_count(content.get("overlap", 1)):
        faults.append(f"the overlap is a whole number of 1 or more, not {content['overlap']}")
    return faults


def _plain_faults(content: Mapping[str, Any]) -> list[str]:
    audit = content.get("audit", {})
    audit = audit if isinstance(audit, dict) else {"target": None}
    faults: list[str] = []
    if "threshold" not in content:
        faults.append("a policy has either a [target] or a threshold")
    elif not _between(content["threshold"], _LEAST_THRESHOLD, 1.0, closed=True):
        faults.append(f"the threshold is above 0.5 and up to 1, not {content['threshold']}")
    faults += [
        f"the audit's {part} lies between 0 and 1, not {audit[part]}"
        for part in ("target", "confidence")
        if part in audit and not _between(audit[part], 0.0, 1.0)
    ]
    return faults + _unknown(set(content) - _KNOWN - {"threshold", "audit"}, set(audit) - _AUDIT)


def _target_faults(content: Mapping[str, Any]) -> list[str]:
    target = content["target"]
    if not isinstance(target, dict):
        return ["'target' is a table: [target] with 'agreement' and 'confidence'"]
    by_grade = target.get("by_grade", {})
    if not isinstance(by_grade, dict):
        return ["'by_grade' is a table of grades and shares: [target.by_grade]"]
    faults = [
        f"the agreement of {grade} lies between 0 and 1, not {share}"
        for grade, share in [("all", target.get("agreement", 0.9)), *by_grade.items()]
        if not _between(share, 0.0, 1.0)
    ]
    if "threshold" in content or "audit" in content:
        faults.append("a policy with a [target] has no threshold and no [audit] of its own")
    confidence = target.get("confidence", 0.95)
    if not _between(confidence, 0.0, 1.0) or confidence < _LEAST_CONFIDENCE:
        faults.append(f"the target's confidence is 0.75 or more and below 1, not {confidence}")
    looks = target.get("looks", 1)
    if not _is_count(looks) or looks > _MOST_LOOKS:
        faults.append(f"the target's looks are a whole number from 1 to {_MOST_LOOKS}, not {looks}")
    if "votes" in target and not _is_count(target["votes"]):
        faults.append(f"the target's votes are a whole number of 1 or more, not {target['votes']}")
    unknown = set(content) - _KNOWN - {"target", "threshold", "audit"}
    return faults + _unknown(unknown, set(target) - _TARGET, set(by_grade) - set(Grade))


def _unknown(*names: set[str]) -> list[str]:
    return [
        f"'{name}' is unknown; docs/files.md shows a policy"
        for name in sorted(set().union(*names))[:1]
    ]


def _plain_policy(content: Mapping[str, Any]) -> Policy:
    audit = content.get("audit", {})
    return Policy(
        name=str(content["name"]),
        threshold=float(content["threshold"]),
        accept=tuple(grade for grade in Grade if grade in content.get("accept", list(Grade))),
        target=float(audit.get("target", Policy.target)),
        confidence=float(audit.get("confidence", Policy.confidence)),
        overlap=int(content.get("overlap", 1)),
    )


def _target_policy(content: Mapping[str, Any]) -> TargetPolicy:
    target = content["target"]
    by_grade = target.get("by_grade", {})
    return TargetPolicy(
        name=str(content["name"]),
        agreement=float(target.get("agreement", TargetPolicy.agreement)),
        confidence=float(target.get("confidence", TargetPolicy.confidence)),
        by_grade=tuple((grade, float(by_grade[grade])) for grade in Grade if grade in by_grade),
        accept=tuple(grade for grade in Grade if grade in content.get("accept", list(Grade))),
        looks=int(target.get("looks", 1)),
        votes=target.get("votes"),
        overlap=int(content.get("overlap", 1)),
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _between(value: object, low: float, high: float, *, closed: bool = False) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return low < value < high or (closed and value == high)
