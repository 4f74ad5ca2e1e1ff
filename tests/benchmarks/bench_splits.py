"""Measure grouping for splits: time, memory, and which planted copies are found.

python -m tests.benchmarks.bench_splits [documents ...]          generated documents, 10,000 if none
python -m tests.benchmarks.bench_splits cranfield scifact ...    collections, no copies planted
python -m tests.benchmarks.bench_splits --database 100000        imported, frozen and checked

Generated documents have about 125 words, drawn by Zipf's law, and every third takes a fifth of its
sentences from a stock that it shares with others. A copy is planted of 2% of them for each way of
copying. A copy is found when the two end up in one group; a false merge is a pair of originals in
one group. Embeddings are left out. The baseline of the time is splitting the texts into words.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import ParamSpec, TypeVar

from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.sealing.split_in_force import find_split
from labeler.search.words import tokens
from labeler.splits.check import check_split
from labeler.splits.check_texts import CROSSES, CheckedText, near_across, verbatim_across
from labeler.splits.content import Content, Passage, SplitDocument
from labeler.splits.drafts import plan_split
from labeler.splits.freezing import freeze_split
from labeler.splits.plan import Plan, edge_scheme, find_edges, make_plan
from labeler.store.database import open_store
from labeler.store.location import Location
from labeler.store.registry import text_digest
from tests.benchmarks.measuring import Spent, collection, in_own_process

P = ParamSpec("P")
Result = TypeVar("Result")

_WORDS = 125
_VOCABULARY = 30_000
_PLANTED = 0.02


def main() -> None:
    """Measure what the command line names."""
    names = sys.argv[1:] or ["10000"]
    if names[0] == "--database":
        told, spent = in_own_process(_in_a_database, int(names[1]))
        _print(f"{int(names[1]):,} documents and copies of them, in a database", told, spent)
        return
    for name in names:
        if name.isdigit():
            counts, spent = in_own_process(_generated, int(name))
            _print(f"{int(name):,} generated documents", counts, spent)
        else:
            counts, spent = in_own_process(_collection, str(collection(name)))
            _print(name, counts, spent)


def _print(title: str, counts: dict[str, str], spent: Spent) -> None:
    print(f"\n{title}: {spent.wall:.1f} s wall, {spent.cpu:.1f} s CPU, {spent.peak:,.0f} MiB peak")
    for name, value in counts.items():
        print(f"  {name:<28} {value}")


def _in_a_database(count: int) -> dict[str, str]:
    """Import generated documents and take them from a plan to a check, as the commands do."""
    originals, copies = _corpus(count, Random(count))  # noqa: S311 - texts, not keys
    texts = originals | {name: text for name, (_, _, text) in copies.items()}
    told: dict[str, str] = {}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.jsonl"
        rows = ({"_id": name, "text": text, "document": name} for name, text in texts.items())
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        with open_store(Location(str(Path(folder) / "queue.db")), create=True) as store:
            _, told["import"] = _timed(import_corpus, store, [path], CorpusOptions(snapshot="s"))
            plan, told["plan"] = _timed(plan_split, store)
            _, told["freeze"] = _timed(freeze_split, store, "main", plan)
            with store.read() as connection:
                report, told["check"] = _timed(check_split, connection, find_split(connection))
    told["largest group"] = f"{max(len(group.members) for group in plan.groups):,}"
    told["the check"] = "holds" if report.holds else "BROKEN"
    return told


def _timed(work: Callable[P, Result], *given: P.args, **named: P.kwargs) -> tuple[Result, str]:
    wall, cpu = time.perf_counter(), time.process_time()
    done = work(*given, **named)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return done, f"{wall:.1f} s wall, {cpu:.1f} s CPU, {peak:,.0f} MiB peak by then"


def _generated(count: int) -> dict[str, str]:
    random = Random(count)  # noqa: S311 - texts, not keys
    originals, copies = _corpus(count, random)
    texts = originals | {name: text for name, (_, _, text) in copies.items()}
    plan, times = _planned(texts)
    group = {member: one.number for one in plan.groups for member in one.members}
    found: Counter[str] = Counter()
    planted: Counter[str] = Counter()
    for name, (kind, source, _) in copies.items():
        planted[kind] += 1
        found[kind] += group[f"document:{name}"] == group[f"document:{source}"]
    kinds = {
        f"found: {kind}": f"{found[kind]:,} of {n:,} ({found[kind] / n:.3f})"
        for kind, n in planted.items()
    }
    merged = Counter(group[f"document:{name}"] for name in originals)
    false = sum(n - 1 for n in merged.values())
    return {
        **times,
        **kinds,
        "false merges of originals": f"{false:,} of {count:,}",
        **_second_look(plan, texts),
    }


def _second_look(plan: Plan, texts: dict[str, str]) -> dict[str, str]:
    """Compare the parts as `labeler split check` does: what it finds, grouping has missed."""
    checked = [
        CheckedText(node, node, group.part.value, texts[node.removeprefix("document:")])
        for group in plan.groups
        for node in group.members
    ]
    begin = time.process_time()
    near = near_across(checked, "document")
    middle = time.process_time()
    runs, _ = verbatim_across(checked)
    end = time.process_time()
    crossing = sum((one.score or 0) >= CROSSES for one in near)
    return {
        "second look, near": f"{middle - begin:.1f} s CPU, {crossing:,} crossing",
        "second look, verbatim": f"{end - middle:.1f} s CPU, {len(runs):,} pairs",
    }


def _planned(texts: dict[str, str]) -> tuple[Plan, dict[str, str]]:
    content = Content(
        1,
        "generated",
        [
            SplitDocument(at, name, None, None, (Passage(name, text, text_digest(text)),))
            for at, (name, text) in enumerate(sorted(texts.items()))
        ],
        [],
    )
    begin = time.process_time()
    for text in texts.values():
        tokens(text)
    words = time.process_time() - begin
    begin = time.process_time()
    found = find_edges(content, None)
    edges = time.process_time() - begin
    begin = time.process_time()
    plan = make_plan(content, found, {}, edge_scheme(None))
    rest = time.process_time() - begin
    sizes = sorted((len(group.members) for group in plan.groups), reverse=True)
    causes = Counter(f"{edge.cause} {edge.action}" for edge in plan.edges)
    return plan, {
        "documents": f"{len(texts):,}",
        "edges": f"{edges:.1f} s CPU, {edges / words:.1f}x splitting into words ({words:.1f} s)",
        "groups and parts": f"{rest:.1f} s CPU",
        "groups": f"{len(sizes):,}",
        "largest groups": ", ".join(f"{size:,}" for size in sizes[:5]),
        "can be frozen": "yes" if plan.can_freeze else "no",
        **{f"edges: {name}": f"{n:,}" for name, n in sorted(causes.items())},
    }


def _collection(folder: str) -> dict[str, str]:
    texts = {}
    with (Path(folder) / "corpus.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            texts[str(row["_id"])] = f"{row.get('title') or ''}\n{row['text']}"
    plan, counts = _planned(texts)
    merged = [group.members for group in plan.groups if len(group.members) > 1]
    counts["pairs in one group"] = f"{sum(len(list(combinations(one, 2))) for one in merged):,}"
    for edge in [one for one in plan.edges if one.action == "link"][:40]:
        counts[f"link {edge.left} {edge.right}"] = f"{edge.cause}: {edge.evidence}"
    return counts


def _corpus(count: int, random: Random) -> tuple[dict[str, str], dict[str, tuple[str, str, str]]]:
    words = [f"w{number}" for number in range(_VOCABULARY)]
    weights = [1 / (rank + 10) for rank in range(_VOCABULARY)]
    flow = iter(random.choices(words, weights, k=count * (_WORDS + 40) + 100_000))

    def sentence() -> list[str]:
        return [next(flow) for _ in range(random.randint(8, 17))]

    stock = [sentence() for _ in range(max(20, count // 100))]
    originals: dict[str, list[list[str]]] = {}
    for number in range(count):
        sentences = [sentence() for _ in range(10)]
        if number % 3 == 0:
            for at in random.sample(range(10), 2):
                sentences[at] = random.choice(stock)
        originals[f"d{number:06}"] = sentences
    copies = {}
    for kind, copy in _COPIES.items():
        for source in random.sample(sorted(originals), round(count * _PLANTED)):
            made = copy(originals[source], random, words)
            copies[f"{source}-{kind.replace(' ', '-')}"] = (kind, source, made)
    return {name: _text(one) for name, one in originals.items()}, copies


def _text(sentences: list[list[str]]) -> str:
    return " ".join(" ".join(one).capitalize() + "." for one in sentences)


def _edited(share: float, sentences: list[list[str]], random: Random, words: list[str]) -> str:
    made = [
        [random.choice(words) if random.random() < share else word for word in one]
        for one in sentences
    ]
    return _text(made)


def _shuffled(sentences: list[list[str]], random: Random, _: list[str]) -> str:
    return _text(random.sample(sentences, len(sentences)))


def _cut(sentences: list[list[str]], random: Random, _: list[str]) -> str:
    keep = round(len(sentences) * 0.6)
    first = random.randint(0, len(sentences) - keep)
    return _text(sentences[first : first + keep])


def _paraphrased(sentences: list[list[str]], random: Random, words: list[str]) -> str:
    return _edited(0.5, random.sample(sentences, len(sentences)), random, words)


_COPIES = {
    "exact": lambda sentences, _random, _words: _text(sentences),
    "normalised": lambda sentences, _random, _words: "\n".join(
        "  ".join(one).upper() + "!" for one in sentences
    ),
    "edited 5%": lambda *given: _edited(0.05, *given),
    "edited 15%": lambda *given: _edited(0.15, *given),
    "shuffled": _shuffled,
    "cut to 60%": _cut,
    "paraphrased": _paraphrased,
}


if __name__ == "__main__":
    main()
