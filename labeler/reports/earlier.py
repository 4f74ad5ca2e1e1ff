"""Reading the conditions of an earlier report, to tell what changed since."""

from __future__ import annotations

import json
from pathlib import Path

from labeler.errors import Fault, InputError
from labeler.formats.text_file import read_text_file

__all__ = ["read_conditions"]


def read_conditions(path: Path) -> dict[str, object]:
    """Read the conditions of a report that was written with --json.

    Raises:
        InputError: When the file can't be read or holds no such report.
    """
    try:
        content = json.loads(read_text_file(path))
    except (ValueError, RecursionError) as error:
        raise InputError([Fault(str(path), None, f"this is no JSON: {error}")]) from None
    conditions = content.get("conditions") if isinstance(content, dict) else None
    if not isinstance(conditions, dict) or "snapshot" not in conditions:
        raise InputError(
            [Fault(str(path), None, "holds no conditions of a report")],
            hint="write one with `labeler report recall --json > FILE`",
        )
    return {str(name): value for name, value in conditions.items()}
