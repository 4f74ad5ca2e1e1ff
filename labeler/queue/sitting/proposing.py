"""What a reviewer proposes in a sitting: evidence that was missing, another form of the query."""

from __future__ import annotations

from labeler.assessment.query_changes import QueryChange
from labeler.queue.sitting.orders import ProposeEvidence, ProposeQuery, Shown
from labeler.queue.sitting.state import SittingState

__all__ = ["Proposing"]


class Proposing(SittingState):
    """A sitting in which something may be proposed; what is judged stays as it is."""

    def propose_evidence(self, shown: Shown, evidence_id: int) -> None:
        """Have somebody else judge an evidence for the query of an item."""
        self._outbox.add(ProposeEvidence(self.new_key(), shown, evidence_id))
        self.notice = "handed on: somebody else judges that passage, blind"

    def propose_query(self, shown: Shown, change: QueryChange, words: str = "") -> None:
        """Propose another domain or other conditions for the query of an item."""
        self._outbox.add(ProposeQuery(self.new_key(), shown, change, words.strip()))
        self.notice = "proposed: the lead decides; the query stays as it is until then"
