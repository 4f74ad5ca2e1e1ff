"""The limiter: never more in flight than it says, nothing lost, a level that finds itself."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.providers.limits import Limiter, Pace, StoppedError
from tests import virtual_time


def limiter_of(most: int, start: int = 20, **rates: float) -> Limiter:
    return Limiter(most=most, start=start, monotonic=virtual_time.now, **rates)


@dataclass(frozen=True)
class Plan:
    """What one task does: when it comes, how long it works, how it ends, when it is cancelled."""

    comes: float
    works: float
    ends: str
    retry_after: float
    cancelled: float | None


SECONDS = st.integers(0, 40).map(lambda tenths: tenths / 10)
PLANS = st.lists(
    st.builds(
        Plan,
        comes=SECONDS,
        works=SECONDS,
        ends=st.sampled_from(["succeeds", "succeeds", "succeeds", "is throttled", "fails"]),
        retry_after=st.sampled_from([0.0, 0.0, 0.5, 3.0]),
        cancelled=st.one_of(st.none(), st.none(), SECONDS),
    ),
    min_size=1,
    max_size=30,
)


class Crowd:
    """Tasks that share a limiter, and what they see of it."""

    def __init__(self, limiter: Limiter) -> None:
        self.limiter = limiter
        self.working = 0
        self.served = 0
        self.paused_until = 0.0

    async def visit(self, plan: Plan) -> None:
        await asyncio.sleep(plan.comes)
        async with self.limiter.slot(1) as granted:
            self.working += 1
            assert granted == virtual_time.now()
            assert granted >= self.paused_until
            assert self.working <= self.limiter.in_flight <= self.limiter.most
            try:
                await asyncio.sleep(plan.works)
                if plan.ends == "succeeds":
                    self.limiter.succeeded()
                elif plan.ends == "is throttled":
                    self.limiter.throttled(granted, plan.retry_after)
                    until = virtual_time.now() + plan.retry_after
                    self.paused_until = max(self.paused_until, until)
                assert 1 <= self.limiter.limit <= self.limiter.most
            finally:
                self.working -= 1
        self.served += 1

    async def come(self, plans: list[Plan]) -> int:
        """Let all come; give how many were served."""
        tasks = [asyncio.create_task(self.visit(plan)) for plan in plans]
        for plan, task in zip(plans, tasks, strict=True):
            if plan.cancelled is not None:
                asyncio.get_running_loop().call_later(plan.cancelled, task.cancel)
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        for end in ends:
            assert end is None or isinstance(end, asyncio.CancelledError), end
        return self.served


@given(PLANS, st.integers(1, 8), st.integers(1, 8))
def test_never_more_in_flight_than_the_limit_and_nothing_leaks(
    plans: list[Plan], most: int, start: int
) -> None:
    async def work() -> None:
        limiter = limiter_of(most, start)
        crowd = Crowd(limiter)
        served = await crowd.come(plans)
        assert served >= sum(plan.cancelled is None for plan in plans)
        assert limiter.in_flight == 0
        # Whatever was cancelled, the full limit is free again.
        fresh = [Plan(0, 1, "succeeds", 0, None)] * limiter.limit
        paused = max(crowd.paused_until - virtual_time.now(), 0.0)
        before = virtual_time.now()
        await crowd.come(fresh)
        assert virtual_time.now() == pytest.approx(before + paused + 1)

    virtual_time.run(work)


@given(st.integers(1, 6), st.integers(1, 30))
def test_who_waits_is_served_in_order_and_the_limit_is_used(most: int, count: int) -> None:
    order: list[int] = []

    async def work() -> None:
        limiter = limiter_of(most, most)

        async def visit(number: int) -> None:
            async with limiter.slot(1):
                order.append(number)
                await asyncio.sleep(1)

        await asyncio.gather(*(visit(number) for number in range(count)))
        assert virtual_time.now() == -(-count // most)

    virtual_time.run(work)
    assert order == list(range(count))


@pytest.mark.parametrize("moment", ["waiting", "keeping pace", "working"])
def test_a_cancelled_visitor_gives_its_slot_back(moment: str) -> None:
    async def work() -> None:
        rate = {"requests_per_minute": 1.0} if moment == "keeping pace" else {}
        limiter = limiter_of(1, 1, **rate)
        leave = asyncio.Event()

        async def hold() -> None:
            async with limiter.slot(1):
                await leave.wait()

        first = asyncio.create_task(hold())
        await asyncio.sleep(0)
        if moment == "working":
            first.cancel()
        second = asyncio.create_task(hold())
        await asyncio.sleep(0)
        if moment == "keeping pace":
            leave.set()
            await asyncio.sleep(1)
            assert not second.done()
        if moment != "working":
            second.cancel()
        leave.set()
        await asyncio.gather(first, second, return_exceptions=True)
        assert limiter.in_flight == 0
        await hold()

    virtual_time.run(work)


def test_a_visitor_that_is_cancelled_when_its_slot_was_just_granted_gives_it_back() -> None:
    async def work() -> None:
        limiter = limiter_of(1, 1)

        async def visit() -> None:
            async with limiter.slot(1):
                pass

        async with limiter.slot(1):
            waiting = asyncio.create_task(visit())
            await asyncio.sleep(0)
        # The slot is its now, and it didn't run since.
        assert limiter.in_flight == 1
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert waiting.cancelled()
        assert limiter.in_flight == 0
        await visit()

    virtual_time.run(work)


# -- the level


def test_it_grows_by_one_with_each_answer_until_it_is_throttled() -> None:
    async def work() -> list[int]:
        limiter = limiter_of(100)
        limits = [limiter.limit]
        for _ in range(90):
            limiter.succeeded()
            limits.append(limiter.limit)
        return limits

    assert virtual_time.run(work) == [*range(20, 101), *[100] * 10]


def test_a_round_that_is_throttled_together_makes_one_cut() -> None:
    async def work() -> None:
        limiter = limiter_of(100, 100)
        granted = virtual_time.now()
        await asyncio.sleep(1)
        for _ in range(100):
            limiter.throttled(granted, None)
        assert limiter.limit == 70
        assert limiter.throttled_count == 100
        # Who was let in since then counts again.
        await asyncio.sleep(1)
        limiter.throttled(virtual_time.now(), None)
        assert limiter.limit == 49

    virtual_time.run(work)


def test_after_a_cut_it_grows_by_one_a_round() -> None:
    async def work() -> None:
        limiter = limiter_of(100, 10)
        limiter.throttled(virtual_time.now(), None)
        assert limiter.limit == 7
        for expected in (8, 9, 10, 11):
            for _ in range(limiter.limit + 1):
                limiter.succeeded()
            assert limiter.limit == expected

    virtual_time.run(work)


def test_it_never_falls_below_one_nor_rises_above_the_most() -> None:
    async def work() -> None:
        limiter = limiter_of(3, 50)
        assert limiter.limit == 3
        for _ in range(50):
            await asyncio.sleep(1)
            limiter.throttled(virtual_time.now(), None)
        assert limiter.limit == 1
        for _ in range(1000):
            limiter.succeeded()
        assert limiter.limit == 3

    virtual_time.run(work)


def test_it_finds_the_level_of_a_provider_that_takes_so_many_at_a_time() -> None:
    async def work() -> None:
        limiter = limiter_of(64)
        there, turned_away, answered = 0, 0, 0
        peaks: list[int] = []

        async def visit() -> None:
            nonlocal there, turned_away, answered
            while True:
                async with limiter.slot(1) as granted:
                    there += 1
                    try:
                        if there > 8:
                            turned_away += 1
                            limiter.throttled(granted, 0.05)
                            continue
                        await asyncio.sleep(1)
                        limiter.succeeded()
                        answered += 1
                        peaks.append(limiter.limit)
                        return
                    finally:
                        there -= 1

        await asyncio.gather(*(visit() for _ in range(2_000)))
        assert answered == 2_000
        # Sent in vain: a few each time that it tries for more, not one for each answer.
        assert turned_away < 150
        assert all(5 <= limit <= 9 for limit in peaks[500:])
        # 8 a second is the most that this provider does.
        assert virtual_time.now() < 1.35 * 2_000 / 8

    virtual_time.run(work)


# -- the pace


@given(
    st.sampled_from([30, 60, 200]),
    st.integers(1, 20),
    st.lists(
        st.tuples(st.integers(0, 100), st.sampled_from([0.0, 0.0, 0.0, 1.0, 20.0])),
        min_size=1,
        max_size=80,
    ),
)
def test_no_minute_holds_more_starts_than_its_pace(
    per_minute: int, most: int, visits: list[tuple[int, float]]
) -> None:
    starts: list[float] = []

    async def work() -> None:
        limiter = limiter_of(most, most, requests_per_minute=float(per_minute))

        async def visit(comes: int, retry_after: float) -> None:
            await asyncio.sleep(comes)
            async with limiter.slot(1) as granted:
                starts.append(granted)
                if retry_after:
                    limiter.throttled(granted, retry_after)

        await asyncio.gather(*(visit(*one) for one in visits))

    virtual_time.run(work)
    assert len(starts) == len(visits)
    assert starts == sorted(starts)
    apart = 60 / per_minute
    for earlier, later in itertools.pairwise(starts):
        assert later - earlier >= apart - 1e-6


@given(st.lists(st.integers(1, 500), min_size=2, max_size=40))
def test_tokens_have_a_pace_of_their_own(sizes: list[int]) -> None:
    starts: list[float] = []

    async def work() -> None:
        limiter = limiter_of(100, 100, tokens_per_minute=600.0)

        async def visit(tokens: int) -> None:
            async with limiter.slot(tokens) as granted:
                starts.append(granted)

        await asyncio.gather(*(visit(size) for size in sizes))

    virtual_time.run(work)
    assert starts == pytest.approx([total / 10 for total in itertools.accumulate([0, *sizes[:-1]])])


def test_what_was_not_used_of_a_pace_is_not_saved_up() -> None:
    pace = Pace(60.0)
    assert [pace.delay(1, 100.0) for _ in range(3)] == [0.0, 1.0, 2.0]
    assert [pace.delay(1, 500.0) for _ in range(3)] == [0.0, 1.0, 2.0]


def test_a_pause_that_is_called_meanwhile_counts() -> None:
    async def work() -> float:
        limiter = limiter_of(2, 2, requests_per_minute=6.0)
        async with limiter.slot(1) as granted:
            waiting = asyncio.create_task(first_grant(limiter))
            await asyncio.sleep(5)
            limiter.throttled(granted, 60)
        return await waiting

    async def first_grant(limiter: Limiter) -> float:
        async with limiter.slot(1) as granted:
            return granted

    assert virtual_time.run(work) >= 65


# -- the end


@pytest.mark.parametrize("moment", ["waiting", "keeping pace", "pausing", "sleeping", "coming"])
def test_once_stopped_nobody_is_let_in(moment: str) -> None:
    async def work() -> None:
        rate = {"requests_per_minute": 1.0} if moment == "keeping pace" else {}
        limiter = limiter_of(1 if moment == "waiting" else 2, 2, **rate)
        async with limiter.slot(1) as granted:
            if moment == "pausing":
                limiter.throttled(granted, 300)
                limiter.succeeded()

            async def come() -> None:
                if moment == "sleeping":
                    await limiter.pause(300)
                else:
                    async with limiter.slot(1):
                        raise AssertionError("was let in")

            task = None if moment == "coming" else asyncio.create_task(come())
            await asyncio.sleep(1)
            limiter.stop()
            with pytest.raises(StoppedError):
                await (task or come())
            assert virtual_time.now() == 1.0
            assert limiter.in_flight == 1
        assert limiter.in_flight == 0
        with pytest.raises(StoppedError):
            await limiter.pause(1)

    virtual_time.run(work)


def test_a_pause_lasts_as_long_as_it_was_asked_for() -> None:
    async def work() -> float:
        await limiter_of(1).pause(12.5)
        return virtual_time.now()

    assert virtual_time.run(work) == 12.5
