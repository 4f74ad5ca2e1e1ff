"""What models answered, in the project's ledger: copied from journals, read before asking again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.providers.chat import Ended
from labeler.providers.ledger import answers_to, store_tries
from labeler.records import table
from labeler.records.ledger import Attempt, Response
from labeler.store.bulk import is_one_of
from labeler.store.database import WriteTransaction
from labeler.synthesis.orders import Answered

__all__ = ["Standing", "copy_answers", "standings"]

_ATTEMPT, _RESPONSE = table(Attempt), table(Response)


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a request.

    Attributes:
        response_id: The response that answers it, or None.
        raw: The answer's text; empty where it was erased.
        logprobs: What the response keeps of its log-probabilities.
        closed: How it ended without an answer that can be used: ``refused``, ``truncated`` or
            ``failed``; empty while it is open or answered.
        why: Why.
    """

    response_id: int | None = None
    raw: str = ""
    logprobs: Mapping[str, float] = field(default_factory=dict)
    closed: str = ""
    why: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it is still to be asked."""
        return self.response_id is None and not self.closed


def copy_answers(tx: WriteTransaction, job_id: int, answers: Sequence[Answered]) -> int:
    """Append the tries that aren't in the ledger yet, and tell of how many requests."""
    digests = sorted({one.request for one in answers})
    if not digests:
        return 0
    statement = sa.select(_ATTEMPT.c.request_digest, _ATTEMPT.c.at).where(
        is_one_of(tx.connection, _ATTEMPT.c.request_digest, digests), _ATTEMPT.c.job_id == job_id
    )
    known = {(str(digest), at) for digest, at in tx.connection.execute(statement)}
    fresh = [one for one in answers if one.tries and (one.request, one.tries[0].at) not in known]
    store_tries(tx, job_id, [(one.request, one.tries) for one in fresh])
    return len(fresh)


def standings(connection: Connection, digests: Sequence[str]) -> dict[str, Standing]:
    """Tell what is known of requests, whichever job asked them.

    A model that answered something that can't be used isn't asked the same again. A request that
    no model answered (a failure on the way) stays open.
    """
    found: dict[str, Standing] = {}
    statement = (
        sa.select(_ATTEMPT.c.request_digest, _ATTEMPT.c.outcome, _ATTEMPT.c.failure)
        .join(_RESPONSE, _RESPONSE.c.attempt_id == _ATTEMPT.c.id)
        .where(
            is_one_of(connection, _ATTEMPT.c.request_digest, list(digests)),
            _ATTEMPT.c.outcome.in_([Ended.REFUSED, Ended.TRUNCATED, Ended.FAILED]),
        )
        .order_by(_ATTEMPT.c.id)
    )
    for digest, outcome, failure in connection.execute(statement):
        found[digest] = Standing(closed=str(outcome), why=failure or "")
    for digest, answers in answers_to(connection, list(digests)).items():
        first = answers[0]
        found[digest] = Standing(first.response_id, first.raw, first.logprobs)
    return {digest: found.get(digest, Standing()) for digest in digests}
