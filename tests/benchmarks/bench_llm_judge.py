"""How fast the language-model judge is, against a fake provider on loopback.

python -m tests.benchmarks.bench_llm_judge latency [items]     3 s a request, 128 in flight
python -m tests.benchmarks.bench_llm_judge saturation [items]  no latency; instructor on litellm
                                                               in the same run is the baseline
python -m tests.benchmarks.bench_llm_judge memory              peak at 1,000 and 50,000 items
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from labeler.assessment.rubric import default_rubric
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.judges.llm.judge import LlmJudge
from labeler.judges.llm.pool import PoolToJudge, demands, pool_to_judge
from labeler.judges.llm.report import LlmReport
from labeler.judges.llm.session import JudgeLimits, Tick, judge_in_this_process
from labeler.judges.llm.setup import LlmOptions, make_judge
from labeler.judges.llm.workers import judge_in_processes
from labeler.pools.create import PoolOptions, create_pool
from labeler.providers.chat import AnswerMode
from labeler.providers.seam import load_litellm, provider_connections
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from tests.benchmarks.measuring import Row, in_own_process, print_rows
from tests.fake_provider.running import running_provider

LATENCY, IN_FLIGHT = 3.0, 128
SATURATED_IN_FLIGHT = 64
PER_QUERY = 50


def project(folder: Path, items: int) -> Path:
    """Make a project with a pool 'p' of so many items, each with a text of its own."""
    path = folder / f"{items}.db"
    corpus, queries, run = (folder / name for name in ("corpus.jsonl", "queries.jsonl", "b.run"))
    count = -(-items // PER_QUERY)
    with corpus.open("w") as file:
        for number in range(items):
            words = " ".join(f"word{(number * 7 + place) % 997}" for place in range(55))
            file.write(json.dumps({"_id": f"d{number}", "text": f"{number} {words}"}) + "\n")
    with queries.open("w") as file:
        for number in range(count):
            file.write(json.dumps({"_id": f"q{number}", "text": f"what of word{number}?"}) + "\n")
    with run.open("w") as file:
        for number in range(items):
            query, rank = divmod(number, PER_QUERY)
            file.write(f"q{query} Q0 d{number} {rank + 1} {PER_QUERY - rank} b\n")
    with open_store(Location(str(path)), create=True) as store:
        import_corpus(store, [corpus], CorpusOptions(snapshot="s"))
        import_queries(store, [queries], QueryOptions())
        import_runs(store, [run], RunOptions())
        create_pool(store, "p", PoolOptions(depth=PER_QUERY, rubric=default_rubric()))
    return path


@contextmanager
def prepared(path: Path, endpoint: str) -> Iterator[tuple[Store, PoolToJudge, LlmJudge]]:
    """Open a project and make the judge."""
    with open_store(Location(str(path))) as store:
        with store.read() as connection:
            pool = pool_to_judge(connection, "p")
            options = LlmOptions("openai/plain", endpoint=endpoint, mode=AnswerMode.JSON_SCHEMA)
            judge = make_judge(connection, pool, options)
        yield store, pool, judge


def judged(
    path: Path, endpoint: str, in_flight: int, workers: int
) -> tuple[LlmReport, float, float]:
    """Judge all of a pool; give the report, the seconds, and the rate of the middle of the run.

    litellm's import isn't in the time. The middle lies between a fifth and nine tenths of the
    items, when the number in flight has found its level.
    """
    load_litellm()
    seen: list[float] = []
    times: list[tuple[int, float]] = []

    def observe(tick: Tick) -> None:
        if not seen and tick.in_flight:
            seen.append(time.perf_counter())
        times.append((tick.done, time.perf_counter()))

    limits = JudgeLimits(max_concurrency=in_flight, timeout=60)
    with prepared(path, endpoint) as (store, pool, judge):
        begin = time.perf_counter()
        if workers == 1:
            report = judge_in_this_process(store, pool, judge, limits, observe=observe)
        else:
            report = judge_in_processes(
                store, pool, judge, limits, circular=False, workers=workers, observe=observe
            )
            begin = seen[0] if seen else begin
        seconds = time.perf_counter() - begin
    middle = [one for one in times if 0.2 * report.answered <= one[0] <= 0.9 * report.answered]
    (first, start), (last, end) = middle[0], middle[-1]
    return report, seconds, (last - first) / (end - start)


def bare(path: Path, endpoint: str, in_flight: int) -> float:
    """Send the same requests by instructor on litellm, as a script would; give the seconds."""
    import instructor

    client = instructor.from_litellm(
        load_litellm().acompletion, mode=instructor.Mode.JSON_SCHEMA, async_client=True
    )
    with prepared(path, endpoint) as (store, pool, judge):
        requests = [
            request
            for part in demands(store, pool, judge)
            for demand in part
            for request in demand.question.requests
        ]

    async def one(request: Any, slots: asyncio.Semaphore) -> None:
        async with slots:
            await client.chat.completions.create_with_completion(
                response_model=request.shape.model,
                messages=[{"role": m.role, "content": m.content} for m in request.messages],
                model=request.model,
                api_base=endpoint,
                api_key="none",
                max_retries=0,
                **request.parameters,
            )

    async def work() -> float:
        slots = asyncio.Semaphore(in_flight)
        async with provider_connections():
            begin = time.perf_counter()
            await asyncio.gather(*(one(request, slots) for request in requests))
            return time.perf_counter() - begin

    return asyncio.run(work())


def latency(items: int) -> list[Row]:
    """Measure what share of the possible throughput is reached with slow answers."""
    with tempfile.TemporaryDirectory() as folder, running_provider(latency=LATENCY, keep=0) as fake:
        path = project(Path(folder), items)
        (report, seconds, middle), spent = in_own_process(judged, path, fake.address, IN_FLIGHT, 1)
    most = IN_FLIGHT / LATENCY
    rate = report.answered / seconds
    return [
        Row(f"the limit: {IN_FLIGHT} in flight, {LATENCY:g} s each", f"{most:.1f}/s", 1.0),
        Row(f"judged and committed, {report.answered:,} items", f"{rate:.1f}/s", rate / most),
        Row("the same, between a fifth and nine tenths", f"{middle:.1f}/s", middle / most),
        Row("CPU of the judging process", f"{1000 * spent.cpu / report.answered:.1f} ms an item"),
    ]


def saturation(items: int) -> list[Row]:
    """Measure the most that goes through, beside the bare libraries."""
    with tempfile.TemporaryDirectory() as folder, running_provider(keep=0) as fake:
        path = project(Path(folder), items)
        base, _ = in_own_process(bare, path, fake.address, SATURATED_IN_FLIGHT)
        (one, seconds, _), _ = in_own_process(judged, path, fake.address, SATURATED_IN_FLIGHT, 1)
        again, _ = in_own_process(bare, path, fake.address, SATURATED_IN_FLIGHT)
        other = project(Path(folder), items + 2)
        (_, once_more, _), _ = in_own_process(judged, other, fake.address, SATURATED_IN_FLIGHT, 1)
        seconds = min(seconds, once_more)
        second = project(Path(folder), items + 1)
        two, two_seconds, _ = judged(second, fake.address, SATURATED_IN_FLIGHT, 2)
    rate = items / min(base, again)
    return [
        Row(f"instructor on litellm, {items:,} requests (best of 2)", f"{rate:.0f}/s", 1.0),
        Row(
            "labeler, judged and committed (best of 2)",
            f"{one.answered / seconds:.0f}/s",
            one.answered / seconds / rate,
        ),
        Row(
            "labeler --workers 2",
            f"{two.answered / two_seconds:.0f}/s",
            two.answered / two_seconds / rate,
        ),
    ]


def memory() -> list[Row]:
    """Measure the peak memory at two sizes of pool."""
    rows = []
    first: float | None = None
    for items in (1_000, 50_000):
        with tempfile.TemporaryDirectory() as folder, running_provider(keep=0) as fake:
            path = project(Path(folder), items)
            report, peak = in_own_process(peak_of, path, fake.address)[0]
            first = first or peak
            rows.append(Row(f"{report:,} items", f"{peak:.0f} MiB", peak / first))
    return rows


def peak_of(path: Path, endpoint: str) -> tuple[int, float]:
    """Judge a pool and give how many answers came, and the peak memory of this process in MiB."""
    report, *_ = judged(path, endpoint, SATURATED_IN_FLIGHT, 1)
    return report.answered, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    which = sys.argv[1] if len(sys.argv) > 1 else "saturation"
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    if which == "latency":
        print_rows("slow answers", "what so many in flight can do at most", latency(size or 6_000))
    elif which == "memory":
        print_rows("peak memory", "1,000 items", memory())
    else:
        print_rows("saturated", "instructor on litellm, without storing", saturation(size or 3_000))
