"""The settings of a project: `labeler.toml` in the working directory, and the environment.

```toml
db = "labels/queue.db"       # a path, relative to this file, or a postgresql:// address

[review]
reveal = "never"             # show judges' labels after the vote: "never", "end" or "at_once"
repeats = 0.02               # this share of what is shown comes back unnoticed: 0 to 0.5
overlap_influence = 2        # how many people vote on the tenth that moves reports most

[review.overlap]             # how many people vote on what goes to people, by reason
judges_disagree = 2

[review.keys]                # other keys for what keys do
skip = "x"
```

A variable comes before the file: ``LABELER_DB``, ``LABELER_REVIEW_REVEAL``,
``LABELER_REVIEW_REPEATS``. Whoever uses a setting checks what only it can know, such as the names
of reasons and keys, and says with `Settings.source` where it was written.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from labeler.errors import UsageError

__all__ = [
    "FILE_NAME",
    "MOST_REPEATS",
    "MOST_VOTES",
    "Reveal",
    "ReviewSettings",
    "Settings",
    "own_settings",
    "read_settings",
]

FILE_NAME = "labeler.toml"

MOST_REPEATS = 0.5
"""With more hidden repeats than that, reviewers would judge more old items than new ones."""

MOST_VOTES = 20
"""More people on one item are a slip of the finger."""

Setting = TypeVar("Setting")


class Reveal(StrEnum):
    """Whether a reviewer is shown what judges said, after the vote: never before it."""

    NEVER = "never"
    END = "end"
    """On request, once the sitting has ended."""
    AT_ONCE = "at_once"
    """After each vote."""


@dataclass(frozen=True, slots=True)
class ReviewSettings:
    """How people review.

    Attributes:
        reveal: Whether judges' labels are shown after the vote.
        repeats: The share of items that come back to the same reviewer, from 0 to 0.5.
        overlap: How many people vote on an item that goes to people, by reason, 1 or more.
        keys: Other keys, by the name of what they do; several are divided by commas.
        overlap_influence: How many people vote on the tenth of what waits that moves reports most.
    """

    reveal: Reveal = Reveal.NEVER
    repeats: float = 0.02
    overlap: Mapping[str, int] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    overlap_influence: int = 1


@dataclass(frozen=True, slots=True)
class Settings:
    """What the project's file and the environment say.

    Attributes:
        db: The database as `labeler.toml` names it, or None; ``LABELER_DB`` is told apart.
        folder: The folder that the file is looked for in.
        review: How people review.
    """

    db: str | None = None
    folder: Path = Path()
    review: ReviewSettings = field(default_factory=ReviewSettings)

    @staticmethod
    def source(*path: str) -> str:
        """Name a key of the file as errors name it, such as ``labeler.toml, review.reveal``."""
        return f"{FILE_NAME}, {'.'.join(path)}"


def own_settings() -> Settings:
    """Read the settings of the working directory and of this process's environment."""
    return read_settings(Path.cwd(), os.environ)


def read_settings(folder: Path, environment: Mapping[str, str]) -> Settings:
    """Read the settings of a folder; what isn't set has its default.

    Args:
        folder: Where `labeler.toml` may lie.
        environment: Variables; those that Labeler doesn't know are let alone.

    Raises:
        UsageError: When the file isn't TOML, or a key is unknown or has a value that it can't
            have. The message names the file and the key, or the variable.
    """
    content = _content(folder / FILE_NAME)
    _known(content, ("db", "review"))
    review = _table(content, "review")
    _known(review, ("reveal", "repeats", "overlap", "overlap_influence", "keys"), "review")
    defaults = ReviewSettings()

    def get(key: str, read: Callable[[object, str], Setting], default: Setting) -> Setting:
        variable = f"LABELER_REVIEW_{key.upper()}"
        if environment.get(variable):
            return read(environment[variable], variable)
        return read(review[key], Settings.source("review", key)) if key in review else default

    overlap = _table(review, "overlap", "review")
    keys = _table(review, "keys", "review")
    return Settings(
        db=_address(content["db"]) if "db" in content else None,
        folder=folder,
        review=ReviewSettings(
            reveal=get("reveal", _reveal, defaults.reveal),
            repeats=get("repeats", _share, defaults.repeats),
            overlap_influence=(
                _votes(review["overlap_influence"], Settings.source("review", "overlap_influence"))
                if "overlap_influence" in review
                else defaults.overlap_influence
            ),
            overlap={
                name: _votes(value, Settings.source("review", "overlap", name))
                for name, value in overlap.items()
            },
            keys={
                name: _keys(value, Settings.source("review", "keys", name))
                for name, value in keys.items()
            },
        ),
    )


def _content(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeError) as error:
        raise UsageError(f"{FILE_NAME} is not a TOML file: {error}") from None
    except OSError as error:
        raise UsageError(f"{FILE_NAME} can't be read: {error.strerror}") from None


def _table(content: Mapping[str, Any], key: str, *above: str) -> Mapping[str, Any]:
    found = content.get(key, {})
    if not isinstance(found, dict):
        place = ".".join([*above, key])
        raise UsageError(f"{Settings.source(*above, key)}: this is a table, [{place}]")
    return found


def _known(content: Mapping[str, Any], names: tuple[str, ...], *above: str) -> None:
    for key in content:
        if key not in names:
            close = difflib.get_close_matches(key, names, n=1)
            raise UsageError(
                f"{Settings.source(*above, key)}: there is no such setting",
                hint=f"did you mean '{close[0]}'?" if close else f"known: {', '.join(names)}",
            )


def _address(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise UsageError(f"{Settings.source('db')}: a path or a postgresql:// address, in quotes")
    return value


def _reveal(value: object, source: str) -> Reveal:
    if value not in list(Reveal):
        raise UsageError(
            f"{source}: {' or '.join(repr(str(one)) for one in Reveal)}, not {value!r}"
        )
    return Reveal(str(value))


def _share(value: object, source: str) -> float:
    told = f"{source}: a share from 0 to {MOST_REPEATS:g}, not {value!r}"
    try:
        share = float(value) if isinstance(value, str | int | float) else -1.0
    except (ValueError, OverflowError):
        raise UsageError(told) from None
    if isinstance(value, bool) or not 0 <= share <= MOST_REPEATS:
        raise UsageError(told)
    return share


def _votes(value: object, source: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_VOTES:
        raise UsageError(f"{source}: a whole number from 1 to {MOST_VOTES}, not {value!r}")
    return value


def _keys(value: object, source: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f'{source}: the name of a key in quotes, such as "x", not {value!r}')
    return value
