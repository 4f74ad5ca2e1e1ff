"""What is measured about a question before the filters look: all of it on this machine.

Search, neighbours and term statistics come from the safe pack. The sealed side is asked what it
holds, and gives back numbers alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from labeler.providers.embeddings import Embedder
from labeler.records.questions import QuestionKind
from labeler.search.lexical import LexicalIndex, bm25
from labeler.search.words import tokens
from labeler.synthesis.answers import Draft
from labeler.synthesis.filters import Candidate
from labeler.synthesis.likeness import KnownQuestions
from labeler.synthesis.pack import PackChunk, SafePack
from labeler.synthesis.sealed import SHORTEST, SealedSet
from labeler.synthesis.windows import EvidenceWindow, best_window, span_of

__all__ = [
    "DEPTH",
    "AnswerJudge",
    "Care",
    "Measured",
    "Measuring",
    "SealedSide",
    "judged_probability",
    "shared_run",
]

DEPTH = 10
"""How deep a question's source is searched for in the pack."""
_SEALED_DEPTH = 5


class Care(IntEnum):
    """How much is measured, from the cheap to the dear: most questions fail before the last."""

    WORDS = 0
    """What words tell."""
    EVIDENCE = 1
    """The likest window, and the likest question, by embeddings too."""
    ALL = 2
    """Round trip and judge too, for which whole passages are embedded."""


class AnswerJudge(Protocol):
    """Tells how likely passages are relevant to a question; not the model that wrote it."""

    @property
    def name(self) -> str:
        """The assessor's name."""

    @property
    def models(self) -> frozenset[str]:
        """The models that it rests on."""

    def relevance(self, question: str, chunks: Sequence[PackChunk]) -> list[float | None]:
        """Give the probability that each passage is relevant; None where it can't tell.

        The passages are compared with one another, so give all that was found at once.
        """


@dataclass(frozen=True)
class SealedSide:
    """The sealed texts as the checker holds them; it gives back numbers alone.

    Attributes:
        runs: Runs of 8 words.
        short_runs: Runs of 5 words.
        index: The sealed chunks, searchable.
        texts: The sealed chunks by their names.
    """

    runs: SealedSet
    short_runs: SealedSet
    index: LexicalIndex
    texts: dict[str, str]

    @classmethod
    def of(cls, texts: Sequence[tuple[str, str]], runs: SealedSet) -> SealedSide:
        """Hold sealed texts: pairs of a name such as ``chunk:ID`` and a text."""
        chunks = {name: text for name, text in texts if name.startswith("chunk:")}
        short = SealedSet.of((text for _, text in texts), longest=SHORTEST)
        return cls(runs, short, LexicalIndex(chunks), chunks)


@dataclass(frozen=True, slots=True)
class Measured:
    """A question with what was measured about it.

    Attributes:
        candidate: What the filters look at.
        vector: Its embedding, or None.
        found: What a search in the pack found for it, best first.
    """

    candidate: Candidate
    vector: NDArray[np.float32] | None
    found: tuple[str, ...]


@dataclass
class Measuring:
    """Measures questions.

    Attributes:
        pack: The safe pack.
        sealed: The sealed side.
        known: The questions that a new one is compared with; those accepted are added to it.
        embedder: Embeds questions and windows; None leaves similarity unmeasured.
        judge: Says whether sources answer; None leaves that to a model that is asked, or open.
    """

    pack: SafePack
    sealed: SealedSide
    known: KnownQuestions
    embedder: Embedder | None = None
    judge: AnswerJudge | None = None

    def search(self, question: str) -> tuple[str, ...]:
        """Find the chunks of the pack that fit a question: by BM25, put in order by embeddings."""
        names = [name for name, _ in self.pack.lexical.search(question, DEPTH)]
        if self.embedder is None or not names:
            return tuple(names)
        vectors = self.embedder.passages([self.pack.by_chunk[name].search_text for name in names])
        scores = vectors @ self.embedder.queries([question])[0]
        order = np.argsort(-scores, kind="stable")
        return tuple(names[place] for place in order)

    def measure(
        self,
        draft: Draft,
        kind: QuestionKind,
        chunks: Sequence[str],
        *,
        language: str,
        is_embedded: bool,
        log_probability: float | None,
        asked_judge: float | None = None,
        care: Care = Care.ALL,
    ) -> Measured:
        """Measure a question.

        Args:
            draft: The question with the words that are said to answer it.
            kind: Its kind.
            chunks: Its sources.
            language: The language that it should be in, or empty.
            is_embedded: Whether the embedded generator wrote it.
            log_probability: The mean over its tokens, or None.
            asked_judge: What a model that was asked says of whether it can be answered, from 0 to
                1; None when none was asked.
            care: How much is measured; the rest stays unmeasured.
        """
        embedder = self.embedder if care >= Care.EVIDENCE else None
        sources = [self.pack.by_chunk[name] for name in chunks]
        found = self.search(draft.question) if care is Care.ALL else ()
        vector = embedder.queries([draft.question])[0] if embedder else None
        windows = _windows(draft, kind, sources, embedder)
        answerable = asked_judge
        if answerable is None and care is Care.ALL:
            answerable = self._answerable(draft.question, kind, sources, found)
        candidate = Candidate(
            question=draft.question,
            kind=kind,
            windows=windows,
            language=language,
            is_embedded=is_embedded,
            log_probability=log_probability,
            window_similarity=_least_similarity(windows),
            answerable=answerable,
            likest=self.known.likest(draft.question, vector),
            sealed_runs=self.sealed.runs.hits(draft.question),
            sealed_words=self.sealed.short_runs.longest_run(draft.question, SHORTEST),
            sealed_is_better=self._sealed_is_better(draft.question, sources),
            ranks=tuple(found.index(name) + 1 if name in found else None for name in chunks)
            if care is Care.ALL
            else (),
            depth=DEPTH,
            shared_run=max(shared_run(draft.question, one.text) for one in sources),
        )
        return Measured(candidate, vector, found)

    def _answerable(
        self,
        question: str,
        kind: QuestionKind,
        sources: Sequence[PackChunk],
        found: Sequence[str],
    ) -> float | None:
        if self.judge is None:
            return None
        names = list(dict.fromkeys([*(one.chunk for one in sources), *found]))
        scores = dict(
            zip(
                names,
                self.judge.relevance(question, [self.pack.by_chunk[name] for name in names]),
                strict=True,
            )
        )
        wanted = names if kind is QuestionKind.UNANSWERABLE else [one.chunk for one in sources]
        said = [score for name in wanted if (score := scores[name]) is not None]
        if not said or len(said) < len(wanted):
            return None
        return max(said) if kind is QuestionKind.UNANSWERABLE else min(said)

    def _sealed_is_better(self, question: str, sources: Sequence[PackChunk]) -> bool | None:
        """Tell whether a sealed chunk scores above every source, by the pack's statistics."""
        terms, statistics = tokens(question), self.pack.lexical.statistics
        best = max(bm25(terms, tokens(one.search_text), statistics) for one in sources)
        found = self.sealed.index.search(question, _SEALED_DEPTH)
        scores = [bm25(terms, tokens(self.sealed.texts[name]), statistics) for name, _ in found]
        return None if not scores else max(scores) > best


def _windows(
    draft: Draft, kind: QuestionKind, sources: Sequence[PackChunk], embedder: Embedder | None
) -> tuple[EvidenceWindow | None, ...]:
    if kind is QuestionKind.UNANSWERABLE:
        return ()
    if draft.spans:
        return tuple(
            span_of(source.text, span) for source, span in zip(sources, draft.spans, strict=False)
        )
    if embedder is None:
        return tuple(EvidenceWindow(0, len(source.text)) for source in sources)
    return tuple(
        best_window(draft.question, one.text, embedder, title=one.title or "") for one in sources
    )


def _least_similarity(windows: Sequence[EvidenceWindow | None]) -> float | None:
    """Give the least similarity of the windows that embeddings chose.

    A span that a model copied may be two words long; it is no window, and stays unmeasured.
    """
    scores = [one.similarity for one in windows if one is not None and one.similarity is not None]
    return min(scores) if scores else None


def shared_run(question: str, text: str) -> int:
    """Give the length of the longest run of words that a question shares with a text."""
    words, other = tokens(question), tokens(text)
    places: dict[str, list[int]] = {}
    for place, word in enumerate(other):
        places.setdefault(word, []).append(place)
    best = 0
    before: dict[int, int] = {}
    for word in words:
        now = {place: before.get(place - 1, 0) + 1 for place in places.get(word, ())}
        best = max(best, *now.values(), 0) if now else best
        before = now
    return best


def judged_probability(verdict: str, logprobs: Mapping[str, float]) -> float:
    """Give how far a model says yes: by the log-probabilities of its word, else 1 or 0."""
    yes, no = (math.exp(logprobs[word]) if word in logprobs else 0.0 for word in ("yes", "no"))
    if yes + no > 0:
        return yes / (yes + no)
    return 1.0 if verdict == "yes" else 0.0
