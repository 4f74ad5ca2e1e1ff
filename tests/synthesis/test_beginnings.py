"""How a question about a sentence can begin."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.synthesis.beginnings import beginnings


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("A link is valid for 30 minutes and works once.", "How long is a link valid"),
        ("A full battery lasts about four months.", "How long does a full battery last"),
        ("Refunds are issued within 10 business days.", "Within how many days are refunds issued"),
        ("A second parcel costs 4.50 pounds.", "How much does a second parcel cost"),
        ("Care costs 5.99 a month.", "How much does Care cost"),
        (
            "A prepaid label is available for 11.50 Canadian dollars.",
            "How much does a prepaid label",
        ),
        ("A home can have up to eight units in all.", "How many units can a home have"),
        ("A password can have 12 to 63 characters.", "How many characters can a password have"),
        ("A bus line was closed in 1954.", "When was a bus line closed"),
        ("An offer is open until 3 March.", "Until when is an offer open"),
        ("Codes by message ended on 15 February 2026.", "When did codes by message"),
        (
            "A camera uses one band alone, because it reaches further.",
            "Why does a camera use one band alone",
        ),
        ("Vouchers can't be sold, because they are presents.", "Why can't vouchers be sold"),
        ("Vouchers can't be extended.", "Can vouchers be extended?"),
        ("Leaking packs must never be posted.", "Can leaking packs be posted?"),
        (
            "Northern Ireland is covered by our policy.",
            "Is Northern Ireland covered by our policy?",
        ),
        ("You may open your box at home.", "Can I open my box at home?"),
        ("You are a guest of the house.", "Am I a guest of the house?"),
        ("An app has shown it before.", "Has an app shown it before?"),
        ("After booking, a line is active.", "Is a line active?"),
        (
            "Write to us; a message sent late is still in time.",
            "Is a message sent late still in time?",
        ),
        (
            "If the carton itself is crushed or wet, refuse it.",
            "What happens if the carton itself is crushed or wet?",
        ),
        ("Rules go on when the internet is down.", "What happens when the internet is down?"),
        ("If somebody asks you to pay, say no.", "What happens if somebody asks me to pay?"),
        ("To reset your hub, press the button.", "How do I reset my hub"),
    ],
)
def test_a_sentence_is_turned_round_as_far_as_its_verb(sentence: str, wanted: str) -> None:
    assert wanted in beginnings(sentence)


def test_what_asks_for_most_comes_first_and_yes_or_no_last() -> None:
    assert beginnings("The link is valid for 30 minutes, because links leak.", "A link") == [
        "How long is the link valid",
        "Why is the link valid for 30 minutes",
        "Is the link valid for 30 minutes?",
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "It can be bought up to 60 days after delivery.",  # what is "it"?
        "If it is wet, refuse it.",
        "Devices that are older than 36 months drop out.",  # the verb of a clause inside
        "Choose what is worth a message.",
        "In Texas the light is off.",
        "See if a block will help.",
        "Be patient if the register is down the order is billed late.",
        "If neither is possible, we refund it.",
        "After the 10 GB the line is limited to 2 Mbit/s.",
        "Care repairs or replaces a device after accidents.",
        "Pay the open amount and everything is back within an hour.",
        "Expect a repaired unit.",
        "Dogs welcome everywhere here.",
        'The "safe" word is always "no".',
        "",
    ],
)
def test_of_a_sentence_that_is_not_simple_nothing_is_said(sentence: str) -> None:
    assert beginnings(sentence) == []


@pytest.mark.parametrize(
    ("sentence", "title", "is_clear"),
    [
        ("The link is valid for 30 minutes.", "", False),
        ("The link is valid for 30 minutes.", "Your account", False),
        ("The link is valid for 30 minutes.", "Resetting a password by link", True),
        ("The link to the gate is valid for 30 minutes.", "", True),
        ("The Clasp is a lock.", "", True),
        ("Links are valid for 30 minutes.", "", True),
        ("A fund will trade that stock.", "Funds", False),
    ],
)
def test_a_sentence_is_left_alone_when_nobody_could_tell_what_it_speaks_of(
    sentence: str, title: str, is_clear: bool
) -> None:
    assert bool(beginnings(sentence, title)) is is_clear


@pytest.mark.parametrize(
    ("sentence", "unwanted"),
    [
        ("A season can be seen by 3.4 million viewers.", "How many million"),
        ("A label is sold for 4 dollars.", "How many dollars"),
        ("A card is sent because of 2 faults.", "Why"),
        ("You can buy 10 GB for 5 euros.", "How much does I"),
        ("A plan costs 5.99 a month.", "How long"),
        ("A camera comes with 30 days of storage.", "How long"),
    ],
)
def test_what_a_clause_does_not_say_is_not_asked(sentence: str, unwanted: str) -> None:
    found = beginnings(sentence)
    assert found
    assert not [one for one in found if one.startswith(unwanted)]


@given(st.text(max_size=300) | st.from_regex(r"(The|You) \w+ (can|is|has) [\w \"\\?,;\n]+"))
def test_beginnings_differ_stand_on_one_line_and_fit_a_json_string(text: str) -> None:
    found = beginnings(text)
    assert len(set(found)) == len(found)
    assert all(one and one == " ".join(one.split()) for one in found)
    assert not any(mark in one.removesuffix("?") for one in found for mark in '"\\?')
