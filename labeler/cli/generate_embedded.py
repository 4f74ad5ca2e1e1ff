"""The embedded judge as it says whether passages answer a generated question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from labeler.cli.output import tell
from labeler.errors import JudgeError, MissingExtraError

if TYPE_CHECKING:
    from labeler.judges.embedded import EmbeddedJudge
    from labeler.providers.embeddings import Embedder
    from labeler.search.lexical import TermStatistics
    from labeler.store.database import Store
    from labeler.synthesis.pack import PackChunk

__all__ = ["EmbeddedAnswerJudge", "embedder_or_none"]


def embedder_or_none(store: Store) -> Embedder | None:
    """Load the embedded embedder; None, told why, where it can't run."""
    from labeler.judges.embedding_cache import stored_embedder

    try:
        return stored_embedder(store, threads=1)  # the generator has the other processors
    except (MissingExtraError, JudgeError) as error:
        tell(f"note: {error.message}; similarity and answerability stay unmeasured")
        return None


class EmbeddedAnswerJudge:
    """Says how likely passages are relevant to a question, by the embedded judge."""

    def __init__(self, embedder: Embedder, statistics: TermStatistics) -> None:
        """Make the judge.

        Args:
            embedder: Embeds questions and passages.
            statistics: Term statistics of the safe pack.
        """
        from labeler.judges.coefficients import read_coefficients
        from labeler.judges.embedded import EmbeddedJudge

        self._judge: EmbeddedJudge = EmbeddedJudge(embedder, read_coefficients(None), statistics)
        self.name = self._judge.name
        self.models = self._judge.models

    def relevance(self, question: str, chunks: Sequence[PackChunk]) -> list[float | None]:
        """Give the probability that each passage is relevant; None where it abstains."""
        from labeler.assessment.blind import BlindItem, BlindQuery, Block
        from labeler.assessment.rubric import default_rubric
        from labeler.labels import Grade

        items = tuple(BlindItem(place, chunk.search_text) for place, chunk in enumerate(chunks))
        verdicts = self._judge.judge(Block(BlindQuery(question), items, default_rubric()))
        return [
            1.0 - one.probabilities[Grade.NOT_RELEVANT] if one.probabilities else None
            for one in verdicts
        ]
