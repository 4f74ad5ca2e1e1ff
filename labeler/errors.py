"""Every error that Labeler raises on purpose, drawn as a tree.

```
LabelerError                 something the user can act on: one line, a hint, an exit code
├── UsageError               exit 2: the command was given words it can't use together
├── InputError               exit 1: files hold faults; all of them are listed
├── OutputError              exit 1: a file can't be written
├── NotFoundError            exit 1: a name that the project doesn't know
├── ConflictError            exit 1: a name is taken by something with other content
├── MissingExtraError        exit 1: an optional package is not installed
├── JudgeError               exit 1: a judge can't start (wrong weights, unknown name)
├── ProviderRefusedError     exit 4: a provider takes no more: key, rights, model, quota
├── ProviderDownError        exit 1: a provider fails again and again
├── BudgetReachedError       exit 5: the next call could pass the limit on cost
├── InterruptedRunError      exit 130: a person asked a run to stop; what was answered is kept
└── StoreError               exit 1: the database can't be used
    ├── NewerDatabaseError   written by a later version of Labeler
    ├── NetworkFilesystemError  SQLite over a network file system
    ├── DatabaseBusyError    another process held the write lock too long
    └── BrokenDatabaseError  the file is damaged or isn't a Labeler database
```

Anything else that reaches the command line is a bug, and says how to report it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

__all__ = [
    "BrokenDatabaseError",
    "BudgetReachedError",
    "ConflictError",
    "DatabaseBusyError",
    "ExitCode",
    "Fault",
    "InputError",
    "InterruptedRunError",
    "JudgeError",
    "LabelerError",
    "MissingExtraError",
    "NetworkFilesystemError",
    "NewerDatabaseError",
    "NotFoundError",
    "OutputError",
    "ProviderDownError",
    "ProviderRefusedError",
    "StoreError",
    "UsageError",
]


class ExitCode(IntEnum):
    """What the process tells the shell."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    FAILED_ITEMS = 3
    REFUSED_BY_PROVIDER = 4
    BUDGET_REACHED = 5
    GATE_FAILED = 6
    GATE_INCONCLUSIVE = 7
    LEAKAGE = 8
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in one place of one input file.

    Attributes:
        path: The file as the user named it.
        line: The physical line, counted from 1; None when the whole file is meant.
        problem: What was found there, and what was expected.
        count: How many faults it stands for: more than one where the others aren't listed.
    """

    path: str
    line: int | None
    problem: str
    count: int = 1

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.problem}"


class LabelerError(Exception):
    """Base of all errors that a user can act on.

    Attributes:
        message: What is wrong, in one line.
        hint: What to do next, or None.
        exit_code: What the process ends with.
    """

    exit_code: ExitCode = ExitCode.ERROR

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(LabelerError):
    """The command was given words that it can't use together."""

    exit_code = ExitCode.USAGE


class InputError(LabelerError):
    """Input files hold faults; nothing of them was stored.

    Attributes:
        faults: Every fault that was found, in the order of files and lines.
    """

    def __init__(self, faults: Sequence[Fault], *, hint: str | None = None) -> None:
        self.faults = tuple(faults)
        count = sum(fault.count for fault in self.faults)
        noun = "fault" if count == 1 else "faults"
        super().__init__(f"{count:,} {noun} in the input; nothing was stored", hint=hint)


class OutputError(LabelerError):
    """A file can't be written; one that was there is as it was."""


class NotFoundError(LabelerError):
    """A name that this project doesn't know."""


class ConflictError(LabelerError):
    """A name is already taken by something with other content."""


class MissingExtraError(LabelerError):
    """An optional package is needed and not installed."""

    def __init__(self, what: str, *, extra: str) -> None:
        super().__init__(
            f"{what} needs the extra '{extra}', which is not installed",
            hint=f"install Labeler with it: pip install '.[{extra}]' in its folder",
        )
        self.extra = extra


class JudgeError(LabelerError):
    """A judge can't start: its name is unknown or its weights are not the expected ones."""


class ProviderRefusedError(LabelerError):
    """A provider takes no request at all: the key, the rights, the model or the quota is why."""

    exit_code = ExitCode.REFUSED_BY_PROVIDER


class ProviderDownError(LabelerError):
    """A provider fails again and again, so that going on would only lose items."""


class BudgetReachedError(LabelerError):
    """The next call could pass the limit on cost, so it was not made."""

    exit_code = ExitCode.BUDGET_REACHED


class InterruptedRunError(LabelerError):
    """A person asked a run to stop; what was answered is kept."""

    exit_code = ExitCode.INTERRUPTED


class StoreError(LabelerError):
    """The database can't be used."""


class NewerDatabaseError(StoreError):
    """The database was written by a later version of Labeler."""


class NetworkFilesystemError(StoreError):
    """The SQLite file lies on a network file system, where its locks can't be trusted."""


class DatabaseBusyError(StoreError):
    """Another process held the write lock for longer than the time limit."""


class BrokenDatabaseError(StoreError):
    """The file is damaged, or it isn't a Labeler database."""
