from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.imports.near_queries import group_queries, is_one_word, normalised


def test_signs_case_and_forms_of_letters_are_no_difference() -> None:
    assert normalised("  Reset the ROUTER?! ") == "reset the router"
    assert normalised("ｒｅｓｅｔ") == "reset"
    assert normalised("mail [mail] now") == "mail [mail] now"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("reset the router", "router reset the"),
        ("reset the router", "reset the routers"),
        ("receive an invoice", "recieve an invoice"),
        ("invoice", "invoices"),
    ],
)
def test_order_inflection_and_transposed_letters_are_no_difference(left: str, right: str) -> None:
    groups = group_queries({left: 3, right: 2})
    assert groups[right] == groups[left] == left


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("reset the router", "reset the router not"),
        ("enable the wifi", "disable the wifi"),
        ("install the app", "uninstall the app"),
        ("authenticated user", "unauthenticated user"),
        ("contact support", "contract support"),
        ("iphone15 case", "iphone16 case"),
        ("return within 30 days", "return within 31 days"),
        ("mail [mail]", "mail [card]"),
        ("new form", "new farm"),
    ],
)
def test_what_changes_the_question_is_a_difference(left: str, right: str) -> None:
    groups = group_queries({left: 3, right: 3})
    assert groups == {left: left, right: right}


def test_a_misspelling_is_far_rarer_than_the_word() -> None:
    groups = group_queries({"reset the password": 50, "reset the passwort": 2})
    assert groups["reset the passwort"] == "reset the password"
    assert is_one_word("password", "passwort", {"password": 50, "passwort": 10})
    assert not is_one_word("password", "passwort", {"password": 49, "passwort": 10})


@given(
    st.dictionaries(
        st.lists(st.sampled_from(["reset", "resets", "router", "route", "30"]), min_size=1).map(
            lambda words: " ".join(words[:5])
        ),
        st.integers(1, 20),
    )
)
def test_every_text_has_a_group_that_stands_for_itself(asked: dict[str, int]) -> None:
    groups = group_queries(asked)
    assert groups.keys() == asked.keys()
    for text, top in groups.items():
        assert groups[top] == top
        assert asked[top] >= asked[text]
