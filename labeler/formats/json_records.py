"""Rows of JSON: one object a line, or objects in an array or one behind the other."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from labeler.formats.findings import Findings, shown
from labeler.formats.records import Record

__all__ = ["read"]

_SPACE = " \t\r\n"


class _RepeatedKeyError(ValueError):
    """An object says one key twice, with different values."""


class _Parser:
    """Reads JSON values; remembers what is told about them."""

    def __init__(self) -> None:
        self.not_finite: list[int] = []
        self.repeated_keys: list[int] = []
        self.commas: list[int] = []
        self._line = 0
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_constant=self._constant,
            parse_float=self._float,
            strict=False,
        )

    def value(self, text: str, start: int, line: int) -> tuple[object, int]:
        """Read the value that begins at ``start``; give it and where it ends.

        Raises:
            ValueError: When it isn't JSON.
        """
        self._line = line
        try:
            return self._decoder.raw_decode(text, start)
        except RecursionError:
            raise ValueError("nested too deeply") from None

    def tell(self, path: Path, findings: Findings) -> None:
        findings.notice_many(
            path, "NaN or an infinity is no JSON value: taken as missing", self.not_finite
        )
        findings.notice_many(
            path, "a key comes twice in one object with one value", self.repeated_keys
        )
        findings.notice_many(path, "a comma behind the object is ignored", self.commas)

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        value = dict(pairs)
        if len(value) != len(pairs):
            for key, item in pairs:
                if item != value[key]:
                    raise _RepeatedKeyError(
                        f"the key {shown(key)} comes twice, with different values"
                    )
            self._note(self.repeated_keys)
        return value

    def _constant(self, _name: str) -> None:
        self._note(self.not_finite)

    def _float(self, text: str) -> float | None:
        number = float(text)
        if math.isfinite(number):
            return number
        self._note(self.not_finite)
        return None

    def _note(self, lines: list[int]) -> None:
        if not lines or lines[-1] != self._line:
            lines.append(self._line)


def read(path: Path, lines: Iterator[tuple[int, str]], findings: Findings) -> Iterator[Record]:
    """Read objects; the first line that isn't blank tells the layout.

    An opening bracket begins an array; an opening brace that stands alone begins objects that
    spread over several lines; in all other files every line is an object.
    """
    first = next(((n, line) for n, line in lines if line.strip(_SPACE)), None)
    if first is None:
        return
    parser = _Parser()
    number, line = first
    text = line.strip(_SPACE)
    rest = chain([first], lines)
    if text[0] not in "{[":
        findings.fault(
            path, number, f"not JSON: begins with {shown(text)}; wanted is one object a line"
        )
    elif text[0] == "[" or text == "{":
        yield from _read_document(path, rest, findings, parser)
    else:
        yield from _read_lines(path, rest, findings, parser)
    parser.tell(path, findings)


def _read_lines(
    path: Path, lines: Iterator[tuple[int, str]], findings: Findings, parser: _Parser
) -> Iterator[Record]:
    for number, line in lines:
        text = line.strip(_SPACE)
        if not text:
            continue
        try:
            value, end = parser.value(text, 0, number)
        except ValueError as error:
            findings.fault(path, number, _problem(error))
            continue
        rest = text[end:].strip(_SPACE)
        if rest == ",":
            parser.commas.append(number)
        elif rest:
            findings.fault(path, number, f"more than one value on the line: {shown(rest)}")
            continue
        if isinstance(value, dict):
            yield Record(number, value)
        else:
            findings.fault(path, number, f"{shown(text)} is no object; wanted is one a line")


def _read_document(
    path: Path, lines: Iterator[tuple[int, str]], findings: Findings, parser: _Parser
) -> Iterator[Record]:
    """Read a whole file whose objects spread over lines: an array, or objects in a row."""
    numbered = list(lines)
    first_line = numbered[0][0]
    text = "\n".join(line for _, line in numbered)
    place = _skip(text, 0)
    in_array = text[place] == "["
    place = _skip(text, place + 1) if in_array else place
    line, counted = first_line, 0
    while place < len(text) and not (in_array and text[place] == "]"):
        line += text.count("\n", counted, place)
        counted = place
        try:
            value, place = parser.value(text, place, line)
        except json.JSONDecodeError as error:
            findings.fault(path, first_line + error.lineno - 1, f"not JSON: {error.msg}")
            return
        except ValueError as error:
            findings.fault(path, line, str(error))
            return
        if isinstance(value, dict):
            yield Record(line, value)
        else:
            findings.fault(path, line, f"{shown(value)} is no object; wanted are objects")
        place = _skip(text, place)
        if in_array and text[place : place + 1] == ",":
            place = _skip(text, place + 1)
        elif in_array and text[place : place + 1] not in {"]", ""}:
            line += text.count("\n", counted, place)
            findings.fault(path, line, "not JSON: the array has no ',' or ']' here")
            return
    if in_array and place >= len(text):
        findings.fault(path, None, "not JSON: the array is not closed; the file is cut short")
    elif in_array and _skip(text, place + 1) < len(text):
        findings.fault(path, None, "not JSON: more follows behind the array")


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in _SPACE:
        place += 1
    return place


def _problem(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} at position {error.pos + 1}"
    return str(error)
