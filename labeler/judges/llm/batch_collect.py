"""Collecting a provider's batch that has ended: every line into the ledger, all or none."""

from __future__ import annotations

import tempfile
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO

from labeler.errors import LabelerError
from labeler.judges.llm.report import LlmReport
from labeler.providers.batch_ledger import KnownBatch, close_batch, is_in_state, lines_of
from labeler.providers.batch_lines import LineReader
from labeler.providers.batches import BatchDesk, BatchStanding
from labeler.providers.chat import AnswerShape, ChatRequest, Ended, Reply
from labeler.providers.ledger import store_tries
from labeler.records.ledger import BatchState
from labeler.store.database import Store

__all__ = ["Collected", "collect_batch"]


@dataclass
class Collected:
    """What was collected in a run.

    Answers are in the ledger, where judging finds them; what ended without one is here.

    Attributes:
        lines: Lines that have an answer or an error.
        answered: Those of them that have an answer which can be used.
        unanswered: Lines whose batch ended before their turn, or left them out.
        notes: What people are told of batches that didn't end well.
        stop: Why the provider takes no request at all, where a line says so.
        tally: What the lines took.
    """

    lines: int = 0
    answered: int = 0
    unanswered: int = 0
    notes: list[str] = field(default_factory=list)
    stop: LabelerError | None = None
    tally: LlmReport = field(default_factory=LlmReport)
    _lost: dict[str, deque[Reply]] = field(default_factory=lambda: defaultdict(deque))

    def add(self, digest: str, reply: Reply) -> None:
        """Take a line in."""
        self.lines += 1
        self.tally.add_tries(reply)
        if reply.stop is not None:
            self.stop = self.stop or reply.stop  # the request is as open as it was
        elif reply.ended is Ended.ANSWERED:
            self.answered += 1
        else:
            # Its try is stored already.
            self._lost[digest].append(Reply(reply.ended, why=reply.why))

    async def ask(self, request: ChatRequest) -> Reply | None:
        """Give what a request ended in without an answer; None where nothing is at hand."""
        lost = self._lost.get(request.digest)
        return lost.popleft() if lost else None


async def collect_batch(
    store: Store,
    desk: BatchDesk,
    batch: KnownBatch,
    standing: BatchStanding,
    *,
    reader: LineReader,
    shape: AnswerShape,
    into: Collected,
) -> None:
    """Collect a batch: its answers are stored, and it is closed, in one transaction.

    Args:
        store: The project.
        desk: The desk where it was submitted.
        batch: The batch.
        standing: How it ended.
        reader: Reads its lines.
        shape: The shape of its answers.
        into: Takes what was collected.
    """
    with store.read() as connection:
        wanted = lines_of(connection, batch.id)
    replies, is_whole = await _fetched(desk, batch, standing, reader, shape)
    found = [(key, replies[key]) for key in wanted if key in replies]
    ended_well = standing.status == "completed" and is_whole
    with store.write(f"collect the batch {standing.id}") as tx:
        if not is_in_state(tx.connection, batch.id, BatchState.SUBMITTED):
            return  # another process has collected it meanwhile
        store_tries(tx, batch.job_id, [(digest, reply.tries) for (digest, _), reply in found])
        state = BatchState.COLLECTED if ended_well else BatchState.LOST
        close_batch(tx.connection, batch.id, state, tx.clock())
    for (digest, _), reply in found:
        into.add(digest, reply)
    into.unanswered += len(wanted) - len(found)
    if len(found) < len(wanted) or not ended_well:
        into.notes.append(_note(standing, len(found), len(wanted), is_whole=is_whole))


async def _fetched(
    desk: BatchDesk,
    batch: KnownBatch,
    standing: BatchStanding,
    reader: LineReader,
    shape: AnswerShape,
) -> tuple[Mapping[tuple[str, int], Reply], bool]:
    """Download and read the lines, and tell whether the provider still had them all."""
    is_whole = True
    with tempfile.TemporaryFile() as file:
        for name in standing.files:
            is_whole &= await desk.download(name, file)
        return _read(file, batch, reader, shape), is_whole


def _read(
    file: IO[bytes], batch: KnownBatch, reader: LineReader, shape: AnswerShape
) -> Mapping[tuple[str, int], Reply]:
    replies: dict[tuple[str, int], Reply] = {}
    file.seek(0)
    for text in file:
        read = reader.read(text, shape, batch.created_at)
        if read is not None:
            replies.setdefault(*read)
    return replies


def _note(standing: BatchStanding, found: int, wanted: int, *, is_whole: bool) -> str:
    said = f"batch {standing.id} {_ENDS.get(standing.status, standing.status)}"
    if standing.problem:
        said += f" ({standing.problem})"
    if not is_whole:
        said += ", and the provider doesn't hold its answers any more"
    if found < wanted:
        said += (
            f": {wanted - found:,} of {wanted:,} lines have no answer; their items are open, and "
            "the same command asks for them again"
        )
    return said


_ENDS = {
    "completed": "has ended",
    "failed": "failed as a whole",
    "expired": "expired before its end",
    "cancelled": "was cancelled",
}
