"""The project that the pictures show: a handbook in chunks, questions with conditions, a judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from labeler.assessment.blind import Block
from labeler.assessment.rubric import default_rubric
from labeler.assessment.verdict import Verdict
from labeler.calibration.policies import UNCALIBRATED
from labeler.imports.corpus import CorpusOptions, import_corpus
from labeler.imports.queries import QueryOptions, import_queries
from labeler.imports.runs import RunOptions, import_runs
from labeler.judges.run import judge_pool, read_pool_blocks
from labeler.labels import Grade, Outcome
from labeler.pools.create import PoolOptions, create_pool
from labeler.queue.route import route_pool
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from tests.small import write_jsonl, write_run

__all__ = ["LONG", "judge_stage", "set_scripts", "set_stage"]

_CARRY = (
    "Employees may carry over up to five unused vacation days into the next calendar year with "
    "written approval from their manager. Days carried over lapse on 31 March. Contractors are "
    "bound by their own contract: unused leave is paid out at its end, and nothing is carried over."
)
LONG = "\n\n".join(
    f"{number}. On {topic}. Whoever takes leave hands open work over to a colleague and says so in "
    "the calendar. Unused leave is listed once a month; the list goes to the manager, who answers "
    "within ten days. In Germany the works council is told first."
    for number, topic in enumerate(("planning", "sickness", "travel", "parents", "ends") * 8, 1)
)
_PASSAGES: Sequence[tuple[str, str, str]] = (
    ("h1", "handbook", "Holidays are requested in the portal, two weeks ahead at the latest."),
    ("h2", "handbook", _CARRY),
    ("h3", "handbook", "Who falls ill during a holiday gets those days back, with a certificate."),
    ("h4", "long", LONG),
    ("h5", "router", "Hold the reset button for ten seconds until the light blinks twice."),
)
_TITLES = {
    "handbook": "Staff handbook: leave",
    "long": "Leave in detail",
    "router": "Router X3: first steps",
}
_QUERIES: list[dict[str, object]] = [
    {
        "_id": "q1",
        "text": "Can a contractor in Germany carry unused leave into next year?",
        "need": "The rule that holds for contractors, and whether it needs an approval.",
        "region": "DE",
        "audience": "contractors",
        "language": "en",
    },
    {"_id": "q2", "text": "how do I reset the router", "language": "en", "domain": "support"},
]


def set_stage(store: Store, folder: Path, *, order: Sequence[str] = ("h2", "h4", "h1")) -> None:
    """Import the handbook, pool three passages for the first question, and send them to people."""
    rows: list[dict[str, object]] = [
        {
            "_id": name,
            "text": text,
            "document": document,
            "title": _TITLES[document],
            "region": "EU",
            "effective_date": "2026-01-01",
            "source": f"intranet/{document}.html",
        }
        for name, document, text in _PASSAGES
    ]
    corpus = write_jsonl(folder / "corpus.jsonl", rows)
    import_corpus(store, [corpus], CorpusOptions(snapshot="handbook-2026"))
    import_queries(store, [write_jsonl(folder / "queries.jsonl", _QUERIES)], QueryOptions())
    run = write_run(folder / "a.run", "a", {"q1": list(order), "q2": ["h5", "h1"]})
    import_runs(store, [run], RunOptions())
    create_pool(store, "leave", PoolOptions(depth=len(order), rubric=default_rubric()))
    route_pool(store, "leave", UNCALIBRATED)


_SCRIPTS = (
    "مدة الإجازة السنوية ثلاثون يوماً. لا تُرحَّل الإِجَازَة إلى السنة التالية إلا بموافقة المدير.\n\n"
    "年次休暇は三十日です。翌年への繰り越しには、上司の承認が必要です。「繰越」は三月末まで。\n\n"
    "Férias: 30 dias por ano. FERIAS não gozadas caducam em março.\n\n"
    "👨\u200d👩\u200d👧 family leave 👍🏽 ❤\ufe0f from day 1\ufe0f\u20e3, [b]not[/b] marked up"
)


def set_scripts(store: Store, folder: Path) -> None:
    """Import one passage in many scripts, and a question with words of each."""
    rows: list[dict[str, object]] = [{"_id": "s", "text": _SCRIPTS, "title": "إجازة 休暇 férias"}]
    import_corpus(store, [write_jsonl(folder / "c.jsonl", rows)], CorpusOptions(snapshot="s"))
    text = "ما هي الإجازة السنوية؟ 年次休暇 ferias family"
    query: dict[str, object] = {"_id": "q", "text": text, "language": "ar"}
    import_queries(store, [write_jsonl(folder / "q.jsonl", [query])], QueryOptions())
    import_runs(store, [write_run(folder / "r.run", "r", {"q": ["s"]})], RunOptions())
    create_pool(store, "leave", PoolOptions(depth=1, rubric=default_rubric()))
    route_pool(store, "leave", UNCALIBRATED)


@dataclass
class _Judge:
    name: str
    grade: Grade | None
    version: str = "1"
    models: frozenset[str] = frozenset()

    @property
    def digest(self) -> str:
        return f"{self.name}-{self.version}".ljust(64, "0")

    def judge(self, block: Block) -> list[Verdict]:
        scale = block.rubric.scale
        return [
            Verdict(
                item.item_id,
                Outcome.JUDGED,
                level=scale.level_for(self.grade),
                confidence=0.5,
                quote=" ".join(item.passage.split()[:9]),
                reason="It names the rule for employees, and says what holds for contractors.",
            )
            if self.grade is not None
            else Verdict(item.item_id, Outcome.ABSTAINED, reason="The region is not named.")
            for item in block.items
        ]


def judge_stage(store: Store) -> None:
    """Have two judges judge the pool, of which one can't; both are unsure, so it goes to people."""
    for judge in (_Judge("one", Grade.FULLY_RELEVANT), _Judge("two", None)):
        with store.read() as connection:
            blocks = read_pool_blocks(connection, "leave")
        judge_pool(store, blocks, judge, AssessorKind.LLM, monotonic=lambda: 0.0)
    route_pool(store, "leave", UNCALIBRATED)
