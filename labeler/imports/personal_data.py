"""Personal data that has a form: found by patterns and replaced, before anything is stored.

Names, addresses and whatever else has no form of its own are not found; who imports a log is told.
Where a pattern could mean two things (a version number or an address), it is replaced: too much is
mended by looking at the log, too little isn't.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping

__all__ = ["KINDS", "scrub"]

_LEAST_CARD, _MOST_CARD = 13, 19
_LEAST_PHONE, _MOST_PHONE = 7, 15
_LONG_NUMBER = 7
_LEAST_V6_COLONS = 2

_LOCAL_PART = r"[\w.!#$%&'*+/=?^`{|}~-]"
_AT, _DOT = (rf"\s?[\[({{]\s?{word}\s?[\])}}]\s?" for word in ("at", "dot"))
_MAIL = re.compile(
    rf"(?<!{_LOCAL_PART}){_LOCAL_PART}+(?:@|%40|{_AT})[\w-]+(?:(?:\.|{_DOT})[\w-]+)+", re.IGNORECASE
)
_IBAN_HEAD = re.compile(r"(?<![^\W_])([A-Za-z]{2})[ -]?(\d{2})(?=[ -]?[A-Za-z0-9])")
_V4 = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d]|\.\d)")
_V6 = re.compile(r"(?<![\w:])[0-9A-Fa-f:]*:(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]*)(?![\w:]|\.\d)")
_GROUPED = re.compile(r"(?<![\w.,])(?:\+|\()?\d(?:[\d]|[ ./()-]{1,2}(?=[\d(]))*\d(?!\w)")
_DIGITS = re.compile(rf"\d{{{_LONG_NUMBER},}}")
_DATE = re.compile(r"(?:\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ]\d{4})", re.ASCII)
_LOCAL = re.compile(r"\d{3}[-.]\d{4}|\d{3}[-. ]\d{3}[-. ]\d{4}")

_IBAN_LENGTHS: Mapping[str, int] = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22,
    "BI": 27, "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27,
    "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27,
    "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32,
    "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19,
    "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24,
    "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31,
    "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23,
    "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}  # fmt: skip
"""ISO 13616 lengths by country, from the IBAN registry of SWIFT."""


def scrub(text: str) -> tuple[str, Counter[str]]:
    """Replace personal data that has a form.

    Found are mail addresses (with ``%40`` as well, as in a URL, and with ``[at]`` or ``(at)``),
    IBANs (with their check digits), card numbers (with Luhn's), IP addresses of both versions,
    phone numbers, and other numbers of 7 digits or more. Invisible
    characters and other forms of letters and digits (full-width ones) hide nothing: where such a
    text holds something, its plain form is given.

    Args:
        text: Any text.

    Returns:
        The text, each find replaced by ``[mail]``, ``[IBAN]``, ``[card]``, ``[IP]``, ``[phone]``
        or ``[number]``; and how many there were of each kind. A text without any comes as it is.
    """
    visible = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
    plain = unicodedata.normalize("NFKC", visible)
    found: Counter[str] = Counter()
    for replace in KINDS.values():
        plain = replace(plain, found)
    return (plain, found) if found else (text, found)


def _mail(text: str, found: Counter[str]) -> str:
    return _replaced(_MAIL, text, "mail", found, lambda _: True)


def _iban(text: str, found: Counter[str]) -> str:
    start = 0
    while match := _IBAN_HEAD.search(text, start):
        end = _end_of_iban(text, match.start())
        if end is None:
            start = match.start() + 1
            continue
        found["IBAN"] += 1
        text = f"{text[: match.start()]}[IBAN]{text[end:]}"
        start = match.start() + len("[IBAN]")
    return text


def _end_of_iban(text: str, start: int) -> int | None:
    """Give where an IBAN that begins somewhere ends; None when none begins there."""
    length = _IBAN_LENGTHS.get(text[start : start + 2].upper())
    if length is None:
        return None
    signs: list[str] = []
    place = start
    while place < len(text) and len(signs) < length:
        if text[place].isascii() and text[place].isalnum():
            signs.append(text[place].upper())
        elif text[place] not in " -" or text[place - 1] in " -":
            return None
        place += 1
    if len(signs) < length or text[place : place + 1].isalnum():
        return None
    # ISO 7064, MOD 97-10: the first four signs go last, letters count from 10.
    moved = "".join(str(int(sign, 36)) for sign in [*signs[4:], *signs[:4]])
    return place if int(moved) % 97 == 1 else None


def _address(text: str, found: Counter[str]) -> str:
    text = _replaced(_V6, text, "IP", found, _is_v6)
    return _replaced(_V4, text, "IP", found, _is_v4)


def _is_v4(text: str) -> bool:
    return all(int(part) <= 255 for part in text.split("."))  # noqa: PLR2004 - a byte


def _is_v6(text: str) -> bool:
    if text.count(":") < _LEAST_V6_COLONS or text == "::":
        return False
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _card(text: str, found: Counter[str]) -> str:
    return _replaced(_GROUPED, text, "card", found, _is_card)


def _is_card(text: str) -> bool:
    """Check Luhn's sum (ISO/IEC 7812-1, annex B)."""
    digits = _digits(text)
    if not _LEAST_CARD <= len(digits) <= _MOST_CARD or "/" in text or text.startswith("+"):
        return False
    doubled = [2 * digit - 9 * (digit > 4) for digit in digits[-2::-2]]  # noqa: PLR2004 - Luhn
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _phone(text: str, found: Counter[str]) -> str:
    return _replaced(_GROUPED, text, "phone", found, _is_phone)


def _is_phone(text: str) -> bool:
    """Tell a phone number by its international or national prefix, or by its usual groups."""
    if not _LEAST_PHONE <= len(_digits(text)) <= _MOST_PHONE or _DATE.fullmatch(text):
        return False
    return text[0] in "+(0" or _LOCAL.fullmatch(text) is not None


def _number(text: str, found: Counter[str]) -> str:
    text = _replaced(_GROUPED, text, "number", found, _is_long)
    return _replaced(_DIGITS, text, "number", found, lambda _: True)


def _is_long(text: str) -> bool:
    return len(_digits(text)) >= _LONG_NUMBER and not _DATE.fullmatch(text)


def _digits(text: str) -> list[int]:
    return [int(letter) for letter in text if letter.isdecimal()]


def _replaced(
    pattern: re.Pattern[str],
    text: str,
    kind: str,
    found: Counter[str],
    is_one: Callable[[str], bool],
) -> str:
    def put(match: re.Match[str]) -> str:
        if not is_one(match.group()):
            return match.group()
        found[kind] += 1
        return f"[{kind}]"

    return pattern.sub(put, text)


KINDS: Mapping[str, Callable[[str, Counter[str]], str]] = {
    "mail": _mail,
    "IBAN": _iban,
    "IP": _address,
    "card": _card,
    "phone": _phone,
    "number": _number,
}
"""What is looked for, in this order: what is surer first."""
