"""A run: tasks from the plan, questions from the models, filters, until each domain has its share.

What a model answered is in the ledger before a question is made of it, and a question is made of
the ledger alone. So a run that is stopped at any point goes on where it stopped, and answers that
came for more questions than were wanted are used first by the next one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from labeler.providers.ledger import job_digest, job_key, note_progress
from labeler.records import table
from labeler.records.ledger import JobState
from labeler.records.questions import Question
from labeler.records.scales import AssessorKind
from labeler.store.database import Store
from labeler.store.registry import assessor_key
from labeler.synthesis.asking import Asking, copy_left_journals
from labeler.synthesis.drafts import Ready, judge_order, ready_of, wanted_language, with_judge
from labeler.synthesis.journals import held, work_folder
from labeler.synthesis.ledger import Standing, standings
from labeler.synthesis.orders import Order
from labeler.synthesis.reading import Stands, question_states
from labeler.synthesis.rendering import question_request
from labeler.synthesis.run_report import DomainReport, GenerateReport
from labeler.synthesis.setup import GenerateOptions, Ground, domains_of
from labeler.synthesis.store import (
    MadeQuestion,
    asked_chunks,
    draw_for_people,
    known_questions,
    question_digest,
    store_findings,
    store_question,
    store_withheld,
    thresholds_in_force,
)
from labeler.synthesis.tasks import QuestionTask, coverage_plan, eligible
from labeler.synthesis.thresholds import Thresholds

__all__ = ["generate"]

_FIRST_RATE = 0.4
_LEAST_RATE = 0.1
_MOST_AT_ONCE = 64
_EMBEDDED_AT_ONCE = 8
_REJECTED_SHARE = 0.5
"""Of the questions that quality filters turned down, half as large a share goes to people."""

_KEPT = frozenset({Stands.ACCEPTED, Stands.WAITING, Stands.QUERY})


def generate(
    store: Store,
    ground: Ground,
    options: GenerateOptions,
    *,
    interrupts: Callable[[], int] = lambda: 0,
    observe: Callable[[GenerateReport], None] = lambda _: None,
) -> GenerateReport:
    """Generate questions until each domain has as many accepted ones as are wanted.

    Nothing is raised for what a provider does: `GenerateReport.stop` says why a run ended early.

    Args:
        store: The project.
        ground: What the run stands on.
        options: What is to be generated.
        interrupts: Tells how often a person asked to stop.
        observe: Told how it goes.

    Raises:
        ConflictError: When another run goes on in this project.
        NotFoundError: When a domain is unknown.
        InterruptedRunError: When a person asked twice to stop.
    """
    domains = domains_of(ground.pack, options.domains)
    folder = work_folder(store.location)
    with held(folder) as lock:
        recovered, foreign = copy_left_journals(store, folder)
        run = _begin(store, ground, options, folder, lock, interrupts, observe)
        run.report.recovered, run.report.foreign = recovered, tuple(map(str, foreign))
        state = JobState.STOPPED
        try:
            for each in run.begin(domains):
                run.generate_for(each)
            if run.asking.stop is None:
                state = JobState.DONE
        finally:
            run.asking.close()
            run.note_end(state)
        run.report.stop = run.asking.stop
        return run.report


def _begin(
    store: Store,
    ground: Ground,
    options: GenerateOptions,
    folder: Path,
    lock: int | None,
    interrupts: Callable[[], int],
    observe: Callable[[GenerateReport], None],
) -> _Run:
    report = GenerateReport(ground.split.name, ground.pack.digest, len(ground.withheld))
    digest = job_digest("generate", str(ground.split.id), str(sorted(options.settings.items())))
    with store.write(f"generate --split {ground.split.name}") as tx:
        assessor = assessor_key(
            tx, AssessorKind.LLM, options.generator_name, options.generator_digest
        )
        job = job_key(
            tx.connection,
            kind="generate",
            digest=digest,
            pool_id=None,
            assessor_id=assessor,
            settings={**options.settings, "pack": ground.pack.digest},
            at=tx.clock(),
        )
        store_withheld(tx, ground.split.id, ground.withheld)
    asking = Asking(store, ground, options, folder, job, digest, lock, interrupts)
    asking.counts = report.counts
    run = _Run(store, ground, options, asking, job, assessor, report, observe)
    asking.observe = lambda: observe(report)
    return run


@dataclass
class _Run:
    """One run while it goes on."""

    store: Store
    ground: Ground
    options: GenerateOptions
    asking: Asking
    job_id: int
    assessor_id: int
    report: GenerateReport
    observe: Callable[[GenerateReport], None]

    def begin(self, domains: Sequence[str | None]) -> list[DomainReport]:
        """Tell of each domain what there is, before the first is asked about."""
        for domain in domains:
            report = DomainReport(domain, self.options.per_domain)
            report.chunks = len(eligible(self.ground.pack, domain))
            report.candidates = report.chunks * self.options.plan(domain).passes
            report.accepted = report.before = self._accepted(domain)
            self.report.domains.append(report)
        return self.report.domains

    def generate_for(self, report: DomainReport) -> None:
        """Fill one domain."""
        plan = self._plan(report.domain)
        tried = 0
        while report.accepted < report.wanted and self.asking.stop is None:
            tasks = self._next_tasks(plan, report, tried)
            if not tasks:
                report.why = report.exhausted()
                break
            tried += len(tasks)
            self._round(tasks, report)
            self.observe(self.report)
        if report.accepted < report.wanted and self.asking.stop is not None:
            report.why = report.stopped(self.asking.stop.message)

    def note_end(self, state: JobState) -> None:
        """Write down how far the job is."""
        domains = self.report.domains
        with self.store.work() as connection:
            note_progress(
                connection,
                self.job_id,
                state=state,
                total=sum(one.wanted for one in domains),
                done=sum(one.accepted for one in domains),
                failed=sum(sum(one.unusable.values()) for one in domains),
                at=self.store.clock(),
            )

    def _accepted(self, domain: str | None) -> int:
        question = table(Question)
        with self.store.read() as connection:
            states = question_states(
                connection, question.c.job_id == self.job_id, question.c.domain == domain
            )
        return sum(one.stands in _KEPT for one in states)

    def _plan(self, domain: str | None) -> Iterator[QuestionTask]:
        """Make the plan anew: it is the same as before, and what is done is passed over."""
        options = self.options
        with self.store.read() as connection:
            counts = asked_chunks(connection, self.ground.split.id, self.job_id)
        asked = {
            name: counts[keys.chunk_id]
            for name, keys in self.ground.keys.items()
            if keys.chunk_id in counts
        }
        wanted = options.plan(domain)
        return coverage_plan(self.ground.pack, wanted, asked)

    def _next_tasks(
        self, plan: Iterator[QuestionTask], report: DomainReport, tried: int
    ) -> list[tuple[QuestionTask, str]]:
        """Take as many tasks without a question as will probably give what is missing."""
        made = report.accepted - report.before
        rate = max(made / tried, _LEAST_RATE) if tried else _FIRST_RATE
        embedded = self.options.generator.is_embedded
        most = _EMBEDDED_AT_ONCE if embedded else _MOST_AT_ONCE
        count = min(math.ceil((report.wanted - report.accepted) / rate), most)
        found: list[tuple[QuestionTask, str]] = []
        while len(found) < count:
            part = [
                (task, question_request(self.ground.pack, task, self.options.generator).digest)
                for task in islice(plan, count - len(found))
            ]
            if not part:
                break
            report.tried += len(part)
            with self.store.read() as connection:
                known = known_questions(
                    connection, self.ground.split.id, [request for _, request in part]
                )
            known |= {request for _, request in found}
            found += [pair for pair in dict.fromkeys(part) if pair[1] not in known]
        return found

    def _round(self, tasks: Sequence[tuple[QuestionTask, str]], report: DomainReport) -> None:
        """Ask for questions, measure them, have them judged, and store them in the plan's order."""
        requests = [request for _, request in tasks]
        before = self._standings(requests)
        self.asking.ask(
            [Order("generator", task) for task, request in tasks if before[request].is_open]
        )
        answers = self._standings(requests)
        thresholds = self._thresholds()
        ready: list[Ready] = []
        for task, request in tasks:
            standing = answers[request]
            if standing.is_open:
                continue  # asked again by the next run
            one = ready_of(self.ground, self.options, task, request, standing, thresholds)
            if one is None:
                report.unusable[standing.closed or "unreadable"] += 1
            else:
                ready.append(one)
        judged = self._judged(ready)
        for one in ready:
            if report.accepted >= report.wanted:
                break
            said = judged.get(one.request)
            if said is not None and said.is_open:
                continue  # the judge couldn't be asked; the next run asks it
            self._store(with_judge(self.ground, one, said, thresholds), report)

    def _standings(self, requests: Sequence[str]) -> dict[str, Standing]:
        with self.store.read() as connection:
            return standings(connection, requests)

    def _thresholds(self) -> Thresholds:
        with self.store.read() as connection:
            return thresholds_in_force(connection, self.options.generator_name)

    def _judged(self, ready: Sequence[Ready]) -> Mapping[str, Standing]:
        """Ask the judge about what passes without it; give what is known then, by request."""
        judge = self.options.judge
        if judge is None:
            return {}
        orders = {one.request: judge_order(one) for one in ready if not one.failed}
        digests = {
            request: order.request(self.ground.pack, judge).digest
            for request, order in orders.items()
        }
        before = self._standings(list(digests.values()))
        self.asking.ask([order for name, order in orders.items() if before[digests[name]].is_open])
        after = self._standings(list(digests.values()))
        return {request: after[digest] for request, digest in digests.items()}

    def _store(self, one: Ready, report: DomainReport) -> None:
        options, task, split = self.options, one.task, self.ground.split
        candidate = one.measured.candidate
        made = MadeQuestion(
            task=task,
            text=one.draft.question,
            answer=" … ".join(span for span in one.draft.spans if span),
            windows=candidate.windows,
            prompt_digest=options.prompt_digests[task.kind.value],
            request_digest=one.request,
            response_id=one.standing.response_id,
            log_probability=candidate.log_probability,
            window_similarity=candidate.window_similarity,
            language=wanted_language(self.ground, task),
            at=self.store.clock(),
        )
        sources = [(self.ground.pack.by_chunk[n], self.ground.keys[n]) for n in task.chunks]
        shares = {
            "accepted": options.review_share,
            "rejected": options.review_share * _REJECTED_SHARE,
        }
        with self.store.write(f"generate --split {split.name}") as tx:
            question_id, text_id = store_question(
                tx, split, made, sources, assessor_id=self.assessor_id, job_id=self.job_id
            )
            store_findings(tx, question_id, text_id, one.findings)
            digest = question_digest(split.id, one.request)
            drawn = draw_for_people(tx, question_id, digest, one.findings, shares)
        self.report.to_people += drawn
        report.generated += 1
        report.filtered.update(one.failed)
        if not one.failed:
            report.accepted += 1
            self.ground.measuring.known.add(
                f"question {question_id}", one.draft.question, one.measured.vector
            )
