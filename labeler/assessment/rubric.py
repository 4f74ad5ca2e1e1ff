"""Rubrics: what the levels mean, for people and judges alike. A rubric is a TOML file.

```toml
name = "relevance"
scale = "native"            # a shipped scale, or a table [scale] as docs/files.md shows
instructions = "..."

[levels.fully_relevant]
meaning = "..."
examples = ["..."]
```
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from labeler.errors import Fault, InputError
from labeler.formats.text_file import read_text_file
from labeler.labels import Scale, shipped_scale

__all__ = ["LevelGuide", "Rubric", "default_rubric", "read_rubric"]


@dataclass(frozen=True, slots=True)
class LevelGuide:
    """What one level means under a rubric."""

    meaning: str
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rubric:
    """Instructions and the meaning of each level; identified by the digest of its content."""

    name: str
    scale: Scale
    instructions: str
    guides: Mapping[str, LevelGuide]

    @property
    def digest(self) -> str:
        """The SHA-256 of the content, the scale included."""
        return hashlib.sha256(self.to_json().encode("utf-8")).hexdigest()

    def to_json(self) -> str:
        """Write the content as canonical JSON, as it is stored."""
        content = {
            "name": self.name,
            "scale": self.scale.digest,
            "instructions": self.instructions,
            "levels": {
                name: {"meaning": guide.meaning, "examples": list(guide.examples)}
                for name, guide in self.guides.items()
            },
        }
        return json.dumps(content, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str, scale: Scale) -> Rubric:
        """Read what `to_json` wrote."""
        content = json.loads(text)
        return cls(
            name=content["name"],
            scale=scale,
            instructions=content["instructions"],
            guides={
                name: LevelGuide(guide["meaning"], tuple(guide["examples"]))
                for name, guide in content["levels"].items()
            },
        )


def parse_rubric(text: str, *, path: str) -> Rubric:
    """Read a rubric from the text of a TOML file.

    Raises:
        InputError: When the text isn't TOML, or a part is missing or of the wrong kind.
        NotFoundError: When the scale isn't a shipped one.
        UsageError: When the table of the scale is no scale.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError([Fault(path, None, f"not a TOML file: {error}")]) from None
    faults = [
        Fault(path, None, f"'{key}' is missing; it is a text")
        for key in ("name", "instructions")
        if not isinstance(content.get(key), str)
    ]
    named = content.get("scale", "native")
    scale = Scale.from_dict(named) if isinstance(named, dict) else shipped_scale(str(named))
    guides: dict[str, LevelGuide] = {}
    levels = content.get("levels", {})
    for level in scale.levels:
        guide = levels.get(level.name) if isinstance(levels, dict) else None
        if not isinstance(guide, dict) or not isinstance(guide.get("meaning"), str):
            faults.append(Fault(path, None, f"[levels.{level.name}] needs a 'meaning'"))
            continue
        examples = guide.get("examples", [])
        if not isinstance(examples, list):
            faults.append(Fault(path, None, f"[levels.{level.name}]: 'examples' is a list"))
            continue
        guides[level.name] = LevelGuide(
            guide["meaning"].strip(), tuple(str(example) for example in examples)
        )
    known = [level.name for level in scale.levels]
    faults += [
        Fault(path, None, f"[levels.{name}] is no level of '{scale.name}': {', '.join(known)}")
        for name in (levels if isinstance(levels, dict) else ())
        if name not in known
    ]
    if faults:
        raise InputError(faults, hint="docs/files.md shows a rubric")
    return Rubric(content["name"], scale, content["instructions"].strip(), guides)


def read_rubric(path: Path) -> Rubric:
    """Read a rubric file.

    Raises:
        InputError: When the file can't be read as a rubric.
    """
    return parse_rubric(read_text_file(path), path=str(path))


def default_rubric() -> Rubric:
    """The shipped rubric, on the native scale."""
    source = files("prompts").joinpath("rubrics/relevance.toml")
    return parse_rubric(source.read_text(encoding="utf-8"), path="relevance.toml")
