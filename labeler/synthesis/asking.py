"""Having orders answered by the process without the database: exposures first, answers kept."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labeler.errors import InterruptedRunError, LabelerError, ProviderDownError
from labeler.providers.chat import Ended
from labeler.providers.ledger import find_job
from labeler.sealing.exposures import NewExposure, record_exposures
from labeler.store.database import Store
from labeler.store.registry import text_digest
from labeler.synthesis.frozen import Withheld
from labeler.synthesis.journals import answers_in, left_journals, new_journal
from labeler.synthesis.ledger import copy_answers
from labeler.synthesis.orders import Answered, Order, error_of
from labeler.synthesis.process import WorkerProcess
from labeler.synthesis.setup import GenerateOptions, Ground
from labeler.synthesis.store import store_withheld

__all__ = ["AskCounts", "Asking", "copy_left_journals"]

_LOOK_SECONDS = 0.2
_FAILURES_IN_A_ROW = 20


@dataclass
class AskCounts:
    """What asking took, in this run.

    Attributes:
        requests: HTTP requests.
        ended: How the orders ended.
        exposed: Texts whose exposure was recorded.
        quarantined: Requests that held sealed words and were not sent.
        prompt_tokens: As the providers counted them.
        completion_tokens: As the providers counted them.
        cost: US dollars, as far as it is known.
        unpriced: Responses of unknown cost.
    """

    requests: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    exposed: int = 0
    quarantined: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0

    def add(self, answered: Answered) -> None:
        """Count what came of a request."""
        self.ended[answered.ended.value] += 1
        for one in answered.tries:
            self.requests += 1
            if one.has_response:
                self.prompt_tokens += one.prompt_tokens or 0
                self.completion_tokens += one.completion_tokens or 0
                self.cost += one.cost or 0.0
                self.unpriced += one.cost is None


@dataclass
class Asking:
    """Asks models through a process that is started at the first order.

    Attributes:
        store: The project.
        ground: What the run stands on.
        options: What is to be generated.
        folder: Where pack and journal lie.
        job_id: The job.
        job_digest: Its digest, which names its journals.
        lock: The descriptor of the folder's lock, or None.
        interrupts: Tells how often a person asked to stop.
        observe: Told when something was answered.
    """

    store: Store
    ground: Ground
    options: GenerateOptions
    folder: Path
    job_id: int
    job_digest: str
    lock: int | None
    interrupts: Callable[[], int] = lambda: 0
    observe: Callable[[], None] = lambda: None
    counts: AskCounts = field(default_factory=AskCounts)
    stop: LabelerError | None = None
    _process: WorkerProcess | None = None
    _journal: Path | None = None
    _next: int = 0
    _seen: set[str] = field(default_factory=set)
    _failures: int = 0

    def ask(self, orders: Sequence[Order]) -> None:
        """Have orders answered; what was answered is in the ledger when this returns.

        Nothing is raised for what a provider does: `stop` says why asking ended early.

        Raises:
            InterruptedRunError: When a person asked twice to stop.
            LabelerError: When the process died.
        """
        if not orders or self.stop is not None:
            return
        process = self._running()
        ordered = {self._next + place: order for place, order in enumerate(orders)}
        self._next += len(orders)
        process.order(ordered)
        pending = set(ordered)
        while pending:
            heard = process.heard(_LOOK_SECONDS)
            self._expose(process, ordered, heard)
            self._keep([Answered.from_json(one) for one in heard if "answered" in one])
            self._quarantine(heard)
            for one in heard:
                for name in ("answered", "dropped", "quarantined"):
                    pending.discard(one.get(name, -1))
                if "stopped" in one:
                    self.stop = self.stop or error_of(one["stopped"])
            self._look_for_interrupts(process)

    def close(self) -> None:
        """Let the process end, and put its journal aside: all of it is in the ledger."""
        if self._process is None:
            return
        with self._process:
            pass
        if self._journal is not None and self._journal.exists():
            self._keep(answers_in(self._journal))
            self._journal.unlink()
        self._process = None

    def _running(self) -> WorkerProcess:
        if self._process is None:
            pack, sealed = self.ground.pack, self.ground.sealed
            for old in [*self.folder.glob("pack-*.jsonl"), *self.folder.glob("sealed-*.bin")]:
                old.unlink(missing_ok=True)
            path = pack.write(self.folder)
            hashes = self.folder / f"sealed-{pack.sealed_digest[:16]}.bin"
            sealed.save(hashes)
            self._journal = new_journal(self.folder, self.job_digest)
            models = {"generator": self.options.generator}
            if self.options.judge is not None:
                models["judge"] = self.options.judge
            self._process = WorkerProcess(
                pack=path,
                pack_digest=pack.digest,
                sealed=hashes,
                journal=self._journal,
                models=models,
                limits=self.options.limits,
                environment=os.environ,
                lock=self.lock,
            )
        return self._process

    def _expose(
        self,
        process: WorkerProcess,
        orders: Mapping[int, Order],
        heard: Sequence[Mapping[str, Any]],
    ) -> None:
        """Record what will be shown, then allow it."""
        asked = [int(one["expose"]) for one in heard if "expose" in one]
        if not asked:
            return
        shown = [
            NewExposure(
                document_id=self.ground.keys[name].document_id,
                document=self.ground.pack.by_chunk[name].document,
                text_digest=text_digest(self.ground.pack.by_chunk[name].text),
                generator=self._who(orders[key].role),
            )
            for key in asked
            for name in orders[key].shown
        ]
        with self.store.write("generate: exposures", durable=True) as tx:
            self.counts.exposed += record_exposures(tx, self.ground.split.id, shown)
        process.grant(asked)

    def _who(self, role: str) -> str:
        options = self.options
        if role == "judge":
            return f"{options.judge_name} {options.judge_digest}"
        return f"{options.generator_name} {options.generator_digest}"

    def _keep(self, answers: Sequence[Answered]) -> None:
        if not answers:
            return
        with self.store.write("generate: answers") as tx:
            copy_answers(tx, self.job_id, answers)
        for one in answers:
            if one.request not in self._seen:
                self._seen.add(one.request)
                self.counts.add(one)
                self._watch(one)
        self.observe()

    def _watch(self, one: Answered) -> None:
        """Stop when the provider fails again and again: going on would only lose questions."""
        came = one.ended is not Ended.FAILED or any(each.has_response for each in one.tries)
        self._failures = 0 if came else self._failures + 1
        if self._failures >= _FAILURES_IN_A_ROW and self.stop is None:
            self.stop = ProviderDownError(
                f"{self.options.generator.name} failed {self._failures} times in a row: {one.why}",
                hint="later, the same command goes on from here",
            )
            if self._process is not None:
                self._process.close_input()

    def _quarantine(self, heard: Sequence[Mapping[str, Any]]) -> None:
        found = [
            Withheld("request", str(one["request"]), int(one["hits"]))
            for one in heard
            if "quarantined" in one
        ]
        if found:
            self.counts.quarantined += len(found)
            with self.store.write("generate: quarantine") as tx:
                store_withheld(tx, self.ground.split.id, found)

    def _look_for_interrupts(self, process: WorkerProcess) -> None:
        pressed = self.interrupts()
        if pressed > 1:
            process.kill()
            raise InterruptedRunError(
                "stopped at once; what was answered before is kept",
                hint="the same command goes on from here",
            )
        if pressed and self.stop is None:
            self.stop = InterruptedRunError("stopped", hint="the same command goes on from here")
            process.close_input()


def copy_left_journals(store: Store, folder: Path) -> tuple[int, list[Path]]:
    """Copy what stopped runs had been answered into the ledger.

    Returns:
        How many requests were copied, and the journals of jobs that this database doesn't know:
        it stands in the place of another one. They stay where they are.
    """
    copied, foreign = 0, []
    for digest, path in left_journals(folder):
        with store.read() as connection:
            job_id = find_job(connection, digest)
        if job_id is None:
            foreign.append(path)
            continue
        with store.write("generate: answers of a stopped run") as tx:
            copied += copy_answers(tx, job_id, answers_in(path))
        path.unlink()
    return copied, foreign
