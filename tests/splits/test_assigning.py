from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import UsageError
from labeler.records.splits import SplitPart
from labeler.splits.assigning import DEFAULT_SHARES, Sized, assign, checked_shares

_GROUPS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 5), st.integers(0, 5)).filter(
        lambda one: one[1] + one[2] > 0
    ),
    max_size=60,
).map(lambda rows: [Sized(str(at), *row) for at, row in enumerate(rows)])


@given(_GROUPS, st.randoms(use_true_random=False))
def test_the_order_of_groups_does_not_matter(groups: list[Sized], random: Random) -> None:
    by_key = dict(
        zip([one.key for one in groups], assign(groups, DEFAULT_SHARES, "s"), strict=True)
    )
    shuffled = random.sample(groups, len(groups))
    again = assign(shuffled, DEFAULT_SHARES, "s")
    assert by_key == dict(zip([one.key for one in shuffled], again, strict=True))


def test_another_seed_gives_another_split_of_the_same_sizes() -> None:
    groups = [Sized(str(at), "", 1, 1) for at in range(200)]
    one, other = (assign(groups, DEFAULT_SHARES, seed) for seed in ("a", "b"))
    assert one != other
    assert Counter(one) == Counter(other)


@given(st.lists(st.integers(1, 4), min_size=100, max_size=300))
def test_each_domain_is_split_by_its_shares(sizes: list[int]) -> None:
    groups = [Sized(str(at), "ab"[at % 2], size, 0) for at, size in enumerate(sizes)]
    parts = assign(groups, DEFAULT_SHARES, "s")
    for domain in "ab":
        total = sum(one.documents for one in groups if one.domain == domain)
        for part, share in DEFAULT_SHARES.items():
            have = sum(
                one.documents
                for one, its in zip(groups, parts, strict=True)
                if its is part and one.domain == domain
            )
            assert abs(have - share * total) <= 4


def test_documents_and_queries_are_both_shared_out() -> None:
    groups = [Sized(f"d{at}", "", 1, 0) for at in range(100)]
    groups += [Sized(f"q{at}", "", 0, 1) for at in range(50)]
    parts = assign(groups, DEFAULT_SHARES, "s")
    assert Counter(parts[:100]) == {"train": 60, "dev": 20, "test": 20}
    assert Counter(parts[100:]) == {"train": 30, "dev": 10, "test": 10}


def test_the_largest_group_goes_to_the_largest_part() -> None:
    groups = [Sized("big", "", 20, 0), *(Sized(str(at), "", 1, 0) for at in range(80))]
    assert assign(groups, DEFAULT_SHARES, "s")[0] is SplitPart.TRAIN


def test_what_is_there_already_counts() -> None:
    groups = [Sized(str(at), "", 1, 0) for at in range(10)]
    taken = {("", SplitPart.TRAIN): (60, 0), ("", SplitPart.DEV): (20, 0)}
    assert set(assign(groups, DEFAULT_SHARES, "s", taken)) == {SplitPart.TEST}


def test_shares_are_brought_to_one() -> None:
    assert checked_shares(3, 1, 1) == pytest.approx({"train": 0.6, "dev": 0.2, "test": 0.2})
    assert checked_shares(0.8, 0, 0.2)[SplitPart.DEV] == 0
    for wrong in ((0, 0.5, 0.5), (0.5, 0.5, 0), (1, -1, 1), (float("nan"), 1, 1)):
        with pytest.raises(UsageError):
            checked_shares(*wrong)
