"""What is to be asked for: one task is one question of one kind from one or two chunks."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from labeler.records.questions import QuestionKind
from labeler.search.words import tokens
from labeler.synthesis.pack import PackChunk, SafePack

__all__ = ["PASSES", "PlanOptions", "QuestionTask", "coverage_plan", "eligible"]

PASSES = 4
"""How often a plan goes through all chunks where nothing else is wanted."""
_SHORTEST_CHUNK = 12
"""Terms below which a chunk is a heading or a scrap rather than a passage."""


@dataclass(frozen=True, slots=True)
class QuestionTask:
    """One question to ask for.

    Attributes:
        kind: The kind.
        chunks: The chunk, or the two chunks of a comparison.
        view: Which pass of the plan asks: 0 first, then others with another view of the chunk.
        persona: Who is to be asking, or empty.
        language: In which language, or empty for the chunk's own.
    """

    kind: QuestionKind
    chunks: tuple[str, ...]
    view: int = 0
    persona: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What a plan is made for.

    Attributes:
        domain: The domain; None takes chunks without one.
        kinds: In which order kinds take turns.
        personas: Personas that take turns; none asks without one.
        language: As in `QuestionTask`.
        seed: Decides between chunks that are equal otherwise.
        passes: How often the plan goes through all chunks, each time with another view of them.
    """

    domain: str | None
    kinds: tuple[QuestionKind, ...]
    personas: tuple[str, ...] = ()
    language: str = ""
    seed: int = 0
    passes: int = PASSES


def eligible(pack: SafePack, domain: str | None) -> list[PackChunk]:
    """List the chunks of a domain that are long enough to be asked about."""
    return [
        chunk
        for chunk in pack.chunks
        if chunk.domain == domain and len(tokens(chunk.text)) >= _SHORTEST_CHUNK
    ]


def coverage_plan(
    pack: SafePack, options: PlanOptions, asked: Mapping[str, int]
) -> Iterator[QuestionTask]:
    """Give tasks in an order that covers a domain: types, then documents, then chunks in turn.

    The next task goes to the type of document that was asked about least for its size, in it to
    the document asked about least for its size, in it to the chunk asked about least; ties are
    broken by the seed. So few questions still spread over all there is. Kinds and personas take
    turns; a kind that a chunk can't give (no condition, no second chunk in its group, no queries
    to take words from) is passed over. The plan ends after `PlanOptions.passes` rounds through all
    chunks.

    Args:
        pack: The safe pack.
        options: What the plan is made for.
        asked: How many questions there are already from each chunk, by its id.
    """
    types: dict[str, dict[str, _Area]] = defaultdict(dict)
    for chunk in eligible(pack, options.domain):
        spot = _Spot(chunk, _place(options.seed, chunk.chunk), asked.get(chunk.chunk, 0))
        types[chunk.type].setdefault(chunk.document, _Area()).add(spot)
    totals = {name: _Area.over(areas.values()) for name, areas in types.items()}
    turn = 0
    while totals:
        kind_of_document = min(totals, key=lambda name: totals[name].order)
        documents = types[kind_of_document]
        document = min(documents, key=lambda name: documents[name].order)
        spot = documents[document].take(options.passes)
        totals[kind_of_document].asked += 1
        if not documents[document].spots:
            del documents[document]
        if not documents:
            del totals[kind_of_document]
        task = _task(pack, spot.chunk, options, turn, spot.view - 1)
        if task is not None:
            turn += 1
            yield task


@dataclass(slots=True)
class _Spot:
    """A chunk, and how often it was asked about."""

    chunk: PackChunk
    place: bytes
    asked: int
    view: int = 0


@dataclass(slots=True)
class _Area:
    """Some chunks that are counted together: a document's, or a type's."""

    spots: list[_Spot] = field(default_factory=list)
    asked: int = 0
    size: int = 0
    place: bytes = b""

    @property
    def order(self) -> tuple[float, bytes]:
        return (self.asked / self.size, self.place)

    def add(self, spot: _Spot) -> None:
        self.spots.append(spot)
        self.asked += spot.asked
        self.size += 1
        self.place = min(self.place or spot.place, spot.place)

    @classmethod
    def over(cls, areas: Iterable[_Area]) -> _Area:
        every = list(areas)
        return cls(
            asked=sum(area.asked for area in every),
            size=sum(area.size for area in every),
            place=min(area.place for area in every),
        )

    def take(self, passes: int) -> _Spot:
        """Ask about the chunk that was asked about least; it goes after its last view."""
        spot = min(self.spots, key=lambda one: (one.asked, one.view, one.place))
        spot.asked += 1
        spot.view += 1
        self.asked += 1
        if spot.view >= passes:
            self.spots.remove(spot)
        return spot


def _task(
    pack: SafePack, chunk: PackChunk, options: PlanOptions, turn: int, view: int
) -> QuestionTask | None:
    """Make the next task for a chunk: of the kind whose turn it is, else of the next one."""
    count = len(options.kinds)
    persona = options.personas[turn % len(options.personas)] if options.personas else ""
    for step in range(count):
        kind = options.kinds[(turn + step) % count]
        names = _chunks_for(pack, chunk, kind)
        if names:
            return QuestionTask(kind, names, view, persona, options.language)
    return None


def _chunks_for(pack: SafePack, chunk: PackChunk, kind: QuestionKind) -> tuple[str, ...]:
    """Name the chunks that a question of a kind is made from; none when it can't be."""
    if kind is QuestionKind.CONDITIONAL and not any((chunk.product, chunk.region, chunk.date)):
        return ()
    if kind is QuestionKind.PARAPHRASE and not pack.queries:
        return ()
    if kind is QuestionKind.COMPARISON:
        other = _neighbour(pack, chunk)
        return (chunk.chunk, other) if other else ()
    return (chunk.chunk,)


def _neighbour(pack: SafePack, chunk: PackChunk) -> str | None:
    """Find the chunk of the same split group that is most like a chunk, by the pack's BM25.

    Two chunks of one document come last: they are compared less often than two versions.
    """
    group = {one.chunk: one for one in pack.by_group[chunk.group] if one.chunk != chunk.chunk}
    if not group:
        return None
    found = pack.lexical.search(chunk.text, len(pack.chunks))
    ranked = [name for name, _ in found if name in group]
    apart = [name for name in ranked if group[name].document != chunk.document]
    return next(iter([*apart, *ranked, *sorted(group)]))


def _place(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}\n{name}".encode("utf-8", "surrogatepass")).digest()
