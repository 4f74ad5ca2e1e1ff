from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.imports.personal_data import scrub


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        ("mail me at ada.lovelace+x@example.co.uk please", "mail me at [mail] please"),
        ("to DE89 3704 0044 0532 0130 00 please", "to [IBAN] please"),
        ("gb82west12345698765432", "[IBAN]"),
        ("card 4111 1111 1111 1111 declined", "card [card] declined"),
        ("card 4111-1111-1111-1112 declined", "card [number] declined"),
        ("call +49 (0)30 1234567 now", "call [phone] now"),
        ("(030) 123 4567, 0301234567", "[phone], [phone]"),
        ("555-0123", "[phone]"),
        ("router at 192.168.1.10 is down", "router at [IP] is down"),
        ("2001:db8::1 and ::ffff:192.0.2.1", "[IP] and [IP]"),
        ("order 123456789 is late", "order [number] is late"),
        ("AB12345678X", "AB[number]X"),
        ("１２３４５６７８", "[number]"),
        ("12\u200b34567", "[number]"),
        ("ada＠example．com", "[mail]"),
        ("https://example.org/?mail=ada%40example.org&x=1", "https:[mail]&x=1"),
        ("ada(at)example.com, ADA [AT] example [dot] co.uk", "[mail], [mail]"),
    ],
)
def test_what_has_a_form_is_replaced(text: str, replaced: str) -> None:
    assert scrub(text)[0] == replaced


@pytest.mark.parametrize(
    "text",
    [
        "return within 30 days",
        "what to look at (at home) and [dot] products",
        "100%40 off",
        "invoice of 2024-01-15, or 15.01.2024",
        "meeting at 12:30:45",
        "std::vector of size 3",
        "version 2.3.4",
        "300.1.1.1",
        "1,000,000 users",
        "de 12 days left",
        "DE 89 euros and 3704 cents",
        "caf\u00e9 ﬁne ①",
    ],
)
def test_what_is_no_personal_data_stays_as_it_is(text: str) -> None:
    assert scrub(text) == (text, {})


def _with_luhn(digits: str) -> str:
    """Append the digit that makes the sum of Luhn a multiple of ten."""
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[::-2]]
    total = sum(doubled) + sum(int(digit) for digit in digits[-2::-2])
    return digits + str(-total % 10)


@given(st.text("0123456789", min_size=12, max_size=18).filter(lambda d: d[0] != "0"))
def test_every_number_with_luhn_s_digit_is_a_card(digits: str) -> None:
    text, found = scrub(f"my card {_with_luhn(digits)} fails")
    assert text == "my card [card] fails"
    assert found == {"card": 1}


@given(st.sampled_from([("DE", 18), ("NL", 14), ("FR", 23), ("NO", 11)]), st.data())
def test_every_iban_with_right_check_digits_is_found(
    country: tuple[str, int], data: st.DataObject
) -> None:
    code, length = country
    account = data.draw(st.text("0123456789", min_size=length, max_size=length))
    value = int("".join(str(int(sign, 36)) for sign in f"{account}{code}00"))
    iban = f"{code}{98 - value % 97:02d}{account}"
    spaced = " ".join(re.findall(".{1,4}", iban))
    for written in (iban, iban.lower(), spaced):
        assert scrub(f"pay {written} today")[0] == "pay [IBAN] today"


@given(st.text())
def test_what_was_scrubbed_holds_nothing_more(text: str) -> None:
    once, _ = scrub(text)
    again, found = scrub(once)
    assert (again, found) == (once, {})


@given(st.text(st.characters(categories=["L", "Zs"])))
def test_words_alone_never_change(text: str) -> None:
    assert scrub(text) == (text, {})


@given(st.text("0123456789 -./()+:@ab", max_size=60))
def test_no_long_run_of_digits_is_left(text: str) -> None:
    assert not re.search(r"\d{7}", scrub(text)[0])
