"""The embedded judge: a small embedding model, word statistics and a label model. No key needed.

It sorts and pre-screens. See docs/embedded-judge.md for what its skill was measured to be.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labeler.assessment.blind import BlindItem, Block
from labeler.assessment.verdict import CUT_PASSAGE, Verdict
from labeler.calibration.features import FEATURES, block_features
from labeler.calibration.label_model import GRADES, LabelModel
from labeler.errors import JudgeError
from labeler.judges.suspicion.flags import flags as suspicious_flags
from labeler.labels import Grade, Level, Outcome, Scale
from labeler.providers.embeddings import Embedder
from labeler.search.lexical import TermStatistics, tokens

__all__ = ["EmbeddedJudge", "judged_text", "level_at_or_below"]


class EmbeddedJudge:
    """Judges a block by the features of its pairs and the probabilities of a label model.

    Some features compare a passage with the others of its block, so give it everything that was
    pooled for the query as one block. The order of the items changes nothing.
    """

    name = "embedded"

    def __init__(
        self,
        embedder: Embedder,
        model: LabelModel,
        statistics: TermStatistics,
        *,
        calibrated: str | None = None,
    ) -> None:
        """Make a judge.

        Args:
            embedder: Embeds the query and the passages.
            model: Turns features into probabilities; its features are those of `FEATURES`.
            statistics: Term statistics of the corpus, or of the pool.
            calibrated: What verdicts state as their calibration: the name of the calibration when
                the model was refitted on this project's human labels, None for the shipped one.

        Raises:
            JudgeError: When the model was fitted on other features.
        """
        if model.features != FEATURES:
            raise JudgeError(f"label model '{model.name}' was fitted on other features")
        self._embedder = embedder
        self._model = model
        self._statistics = statistics
        self._calibrated = calibrated
        self.models = frozenset({embedder.name})
        parts = (model.digest, embedder.digest, statistics.digest, calibrated or "")
        self.digest = hashlib.sha256("\n".join(parts).encode("utf-8")).hexdigest()

    def judge(self, block: Block) -> list[Verdict]:
        """Answer every item of the block, in the block's order.

        The level is the rubric's level for the most probable grade, or, where the scale has none
        for that grade, for the nearest lower grade that it has: on a binary scale a pair that is
        probably partially relevant is not relevant. The confidence is the probability of the grade
        of the level that was given, and so is low there. An empty passage, an empty query, or a
        scale without a level at or below the grade gives an abstention.
        """
        # In the order of the texts, so that nothing can depend on the order of the items.
        texts = {place: judged_text(item) for place, item in enumerate(block.items)}
        readable = [place for place, text in texts.items() if tokens(text)]
        readable.sort(key=lambda place: (texts[place], block.items[place].passage))
        query = block.query.text
        verdicts: dict[int, Verdict] = {}
        if tokens(query) and readable:
            passages = [texts[place] for place in readable]
            x = self._features(query, passages)
            probabilities = self._model.probabilities(x)
            for row, place in enumerate(readable):
                verdicts[place] = self._verdict(
                    block, block.items[place], passages[row], x[row], probabilities[row]
                )
        reason = "the passage has no words" if tokens(query) else "the query has no words"
        return [
            verdicts.get(place) or Verdict(item.item_id, Outcome.ABSTAINED, reason=reason)
            for place, item in enumerate(block.items)
        ]

    def _features(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        query_vector = self._embedder.queries([query])[0]
        vectors = self._embedder.passages(passages)
        return block_features(query, passages, query_vector, vectors, self._statistics)

    def _verdict(
        self,
        block: Block,
        item: BlindItem,
        text: str,
        features: NDArray[np.float64],
        row: NDArray[np.float64],
    ) -> Verdict:
        probabilities = {grade: float(value) for grade, value in zip(GRADES, row, strict=True)}
        level = level_at_or_below(block.rubric.scale, most_probable(probabilities))
        signals = {name: float(value) for name, value in zip(FEATURES, features, strict=True)}
        was_cut = self._embedder.cut is not None and len(text) > self._embedder.cut
        found = ((CUT_PASSAGE,) if was_cut else ()) + suspicious_flags(block.query.text, text)
        return Verdict(
            item.item_id,
            Outcome.ABSTAINED if level is None else Outcome.JUDGED,
            level=level,
            probabilities=probabilities,
            confidence=None if level is None else probabilities[level.grade],
            calibrated=self._calibrated,
            reason=(
                "the scale has no level for this grade or a lower one"
                if level is None
                else _explained(signals)
            ),
            signals=signals,
            flags=found,
        )


def judged_text(item: BlindItem) -> str:
    """Give the text that is judged: the title and the passage; the passage alone if it has both.

    A passage without words stays without: a title alone is nothing to judge.
    """
    title = (item.context.title or "").strip()
    passage = item.passage.strip()
    if not title or not tokens(passage) or passage.casefold().startswith(title.casefold()):
        return passage
    return f"{title} {passage}"


def most_probable(probabilities: dict[Grade, float]) -> Grade:
    """Give the grade with the greatest probability, the lower one when two are equal."""
    return max(GRADES, key=lambda grade: (probabilities[grade], -GRADES.index(grade)))


def level_at_or_below(scale: Scale, grade: Grade) -> Level | None:
    """Give the level for a grade, or for the nearest lower grade that the scale has; else None."""
    for candidate in reversed(GRADES[: GRADES.index(grade) + 1]):
        level = scale.level_for(candidate)
        if level is not None:
            return level
    return None


def _explained(signals: dict[str, float]) -> str:
    rank = round(float(np.exp(signals["log_cosine_rank"])))
    return (
        f"similarity {signals['cosine']:.3f}, number {rank} of its block;"
        f" {signals['query_coverage']:.0%} of the query's words by weight"
    )
