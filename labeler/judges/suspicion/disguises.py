"""Reading a text as a language model might: without what hides its words from a search.

A model reads an order whose letters are spaced out, parted by characters without width, or borrowed
from another alphabet. So what is searched for orders is not the text as it stands.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

__all__ = ["folded", "folded_pattern", "readings"]

_INVISIBLE = dict.fromkeys(
    code
    for first, last in (
        (0xAD, 0xAD),
        (0x61C, 0x61C),
        (0x115F, 0x1160),
        (0x180E, 0x180E),
        (0x200B, 0x200F),
        (0x202A, 0x202E),
        (0x2060, 0x206F),
        (0x3164, 0x3164),
        (0xFEFF, 0xFEFF),
        (0xFFA0, 0xFFA0),
        (0xFFF9, 0xFFFB),
    )
    for code in range(first, last + 1)
)
# Characters that no screen shows, one for each of ASCII's.
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
_PLAIN_LETTERS = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d"})

_LOOKALIKES = str.maketrans(
    "авекмнорстухіѕјԁһԛԝɡαβεικνορτυχωոս⁄∕",  # Cyrillic, Greek, Armenian, slashes
    "abekmhopctyxisjdhqwgabeikvoptuxwnu//",
)
_MIXED = re.compile("[a-z][\u0261\u0370-\u058f]|[\u0261\u0370-\u058f][a-z]")

_ENTITY = re.compile(r"&(?:#([0-9]{2,4})|#x([0-9a-f]{2,3})|(lt|gt|quot|amp|apos|nbsp))(?:;|\b)")
_NAMED = {"lt": "<", "gt": ">", "quot": '"', "amp": "&", "apos": "'", "nbsp": " "}

_DIGIT_IN_WORD = re.compile(r"[a-z][01345](?=[a-z])")
_WORD = re.compile(r"(?<!\w)[0-9]?[a-z]+[0-9][a-z0-9]*(?!\w)|(?<!\w)[0-9][a-z]+(?!\w)")
_DIGITS_AS_LETTERS = str.maketrans("01345", "oieas")

_MARKUP = re.compile(
    r"<!--[^<>]{0,200}-->|</?[a-z][^<>]{0,200}>|[*`~]{1,3}|__|^[ \t]{0,8}>{1,3}", re.MULTILINE
)

_SPACED = re.compile(r"(?<!\w)[^\W\d_](?:[ .·_*|-][^\W\d_]){4,}(?!\w)")
_SPACED_WORD = re.compile(r"(?<!\w)[^\W\d_](?:[ .·_*|-][^\W\d_])+(?!\w)")
_GAPS = re.compile(r"[ .·_*|-]")


def folded(text: str) -> str:
    """Bring a text to one form: case, accents, widths and invisible characters aside."""
    if text.isascii():
        return text.lower()
    # Marks go first: normalising takes quadratic time where thousands of them follow one another.
    plain = text.translate(_dropped())
    return folded_pattern(folded_pattern(plain).casefold())


def folded_pattern(source: str) -> str:
    r"""Bring a pattern in lower case to the same form; its ``\W`` and ``\S`` stay as they are."""
    if source.isascii():
        return source
    return unicodedata.normalize("NFKD", source).translate(_marks()).translate(_PLAIN_LETTERS)


@cache
def _dropped() -> dict[int, int | None]:
    return {**_INVISIBLE, **_TAGS, **_marks()}


@cache
def _marks() -> dict[int, None]:
    return {
        code: None
        for code in range(0x300, 0x20000)
        if unicodedata.category(chr(code)) == "Mn" or unicodedata.combining(chr(code))
    }


def readings(text: str) -> tuple[str, ...]:
    """Give the ways in which a text can be read, folded; most often there is just one.

    Further ones are the text with look-alike letters taken for Latin ones, where words mix two
    alphabets; without markup, where it has some; with letters for the digits in words; and with
    letters put together, where they stand apart one by one.
    """
    plain = folded(text)
    if "&" in plain:
        plain = folded(_ENTITY.sub(_character, plain))
    found = [plain]
    if _MIXED.search(plain):
        found.append(plain.translate(_LOOKALIKES))
    if (bare := _MARKUP.sub("", found[-1]).replace("_", " ")) != found[-1]:
        found.append(bare)
    if _DIGIT_IN_WORD.search(plain):
        found.append(_WORD.sub(lambda word: word[0].translate(_DIGITS_AS_LETTERS), plain))
    if _SPACED.search(found[0]):
        found.append(_SPACED_WORD.sub(lambda run: _GAPS.sub("", run[0]), found[0]))
    return tuple(found)


def _character(entity: re.Match[str]) -> str:
    decimal, hexadecimal, name = entity.groups()
    if name is not None:
        return _NAMED[name]
    return chr(int(decimal) if decimal is not None else int(hexadecimal, 16))
