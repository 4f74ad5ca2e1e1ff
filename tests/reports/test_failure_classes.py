from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.records.evaluations import FailureClass
from labeler.reports.failure_classes import MissFacts, classes_digest, classify, family_of

NOTHING = MissFacts(
    is_in_snapshot=True,
    rank=None,
    other_version_returned=False,
    neighbour_returned=False,
    fits_conditions=True,
    all_returned_fit=False,
    shared_terms=0.4,
    family=None,
)


@pytest.mark.parametrize(
    ("change", "failure"),
    [
        ({}, FailureClass.UNDETERMINED),
        ({"is_in_snapshot": False}, FailureClass.NOT_IN_INDEX),
        ({"rank": 21}, FailureClass.RANK_TRUNCATION),
        ({"all_returned_fit": True, "fits_conditions": False}, FailureClass.METADATA_FILTER),
        ({"fits_conditions": False}, FailureClass.UNDETERMINED),
        ({"all_returned_fit": True}, FailureClass.UNDETERMINED),
        ({"other_version_returned": True}, FailureClass.STALE_VERSION),
        ({"neighbour_returned": True}, FailureClass.CHUNK_BOUNDARY),
        ({"family": "lexical", "shared_terms": 0.0}, FailureClass.LEXICAL_MISMATCH),
        ({"family": "dense", "shared_terms": 0.0}, FailureClass.UNDETERMINED),
        ({"family": "dense", "shared_terms": 0.9}, FailureClass.EMBEDDING_CONFUSION),
        ({"family": "lexical", "shared_terms": 0.9}, FailureClass.UNDETERMINED),
        ({"family": "lexical", "shared_terms": None}, FailureClass.UNDETERMINED),
    ],
)
def test_a_class_is_told_where_its_trace_is_there(
    change: dict[str, object], failure: FailureClass
) -> None:
    assert classify(replace(NOTHING, **change)) is failure  # type: ignore[arg-type]


@given(
    st.builds(
        MissFacts,
        is_in_snapshot=st.booleans(),
        rank=st.none() | st.integers(1, 99),
        other_version_returned=st.booleans(),
        neighbour_returned=st.booleans(),
        fits_conditions=st.booleans(),
        all_returned_fit=st.booleans(),
        shared_terms=st.none() | st.floats(0, 1),
        family=st.sampled_from([None, "lexical", "dense"]),
    )
)
def test_no_rule_claims_to_know_permissions(facts: MissFacts) -> None:
    assert classify(facts) is not FailureClass.PERMISSION_FILTER


def test_a_configuration_that_names_two_families_names_none() -> None:
    assert family_of("BM25 k1=0.9") == "lexical"
    assert family_of("dense multilingual-e5-small-q4") == "dense"
    assert family_of("bm25 + e5") is None
    assert family_of("reranked") is None
    assert family_of(None) is None
    assert len(classes_digest()) == 64
