"""From a frozen split to a safe pack: what may be used, and what is sealed as hashes alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import NotFoundError
from labeler.records import table
from labeler.records.corpus import SnapshotChunk, SnapshotDocument
from labeler.records.project import Text
from labeler.records.queries import Origin, QueryVersion
from labeler.sealing.split_in_force import (
    SAFE_PARTS,
    FrozenSplit,
    find_split,
    read_membership,
)
from labeler.sealing.split_texts import SafeDocument, safe_content, sealed_texts
from labeler.search.words import tokens
from labeler.synthesis.pack import PackChunk, PackQuery, SafePack
from labeler.synthesis.sealed import SHORTEST, SealedSet

__all__ = ["SourceKeys", "Withheld", "every_sealed_text", "make_pack", "split_to_use"]


@dataclass(frozen=True, slots=True)
class Withheld:
    """A chunk or a query of train or dev that holds words of a sealed text."""

    kind: str
    name: str
    hits: int


@dataclass(frozen=True, slots=True)
class SourceKeys:
    """The keys in the project of a chunk of the pack; the pack itself holds names alone."""

    chunk_id: int
    document_id: int
    text_id: int
    group_id: int


def split_to_use(connection: Connection, name: str | None) -> FrozenSplit:
    """Find the frozen split: the one of a name, else the newest.

    Raises:
        NotFoundError: When there is none.
    """
    try:
        return find_split(connection, name=name)
    except NotFoundError as error:
        raise NotFoundError(
            f"{error.message}, so nothing says which documents are safe to generate from",
            hint=error.hint,
        ) from None


def make_pack(
    connection: Connection, split: FrozenSplit
) -> tuple[SafePack, SealedSet, dict[str, SourceKeys], list[Withheld]]:
    """Gather the texts of train and dev, and withhold those that hold sealed words.

    Returns:
        The pack; the set of sealed words; the keys of each chunk of the pack, by its id; what of
        train and dev was withheld.
    """
    content = safe_content(connection, split)
    sealed = SealedSet.of(every_sealed_text(connection, split))
    withheld: list[Withheld] = []
    chunks: list[PackChunk] = []
    keys: dict[str, SourceKeys] = {}
    for document in content.documents:
        for chunk in document.chunks:
            title = chunk.title or document.title
            hits = sealed.hits(chunk.text) + sealed.hits(title or "")
            if hits:
                withheld.append(Withheld("chunk", chunk.name, hits))
                continue
            chunks.append(_pack_chunk(document, chunk.name, chunk.text, title))
            keys[chunk.name] = SourceKeys(
                chunk.chunk_id, document.document_id, chunk.text_id, document.place.group_id
            )
    queries: list[PackQuery] = []
    for query in content.queries:
        if query.origin == Origin.SYNTHETIC.value:
            continue  # words that no person used
        if hits := sealed.hits(query.text):
            withheld.append(Withheld("query", query.name, hits))
            continue
        part = query.place.part.value
        queries.append(
            PackQuery(query.name, query.place.group, part, query.text, query.domain, query.language)
        )
    pack = SafePack(
        split=split.name,
        root_digest=split.root_digest,
        sealed_digest=sealed.digest,
        chunks=tuple(sorted(chunks, key=lambda one: one.chunk)),
        queries=tuple(sorted(queries, key=lambda one: one.query)),
    )
    return pack, sealed, keys, withheld


def _pack_chunk(document: SafeDocument, name: str, text: str, title: str | None) -> PackChunk:
    return PackChunk(
        chunk=name,
        document=document.name,
        group=document.place.group,
        part=document.place.part.value,
        text=text,
        title=title,
        domain=document.domain,
        type=" ".join(one for one in (document.product, document.region) if one),
        product=document.product,
        region=document.region,
        date=document.effective_date,
        language=document.language,
    )


def every_sealed_text(connection: Connection, split: FrozenSplit) -> Iterator[str]:
    """Read all that is sealed: passages, titles of 5 words or more, queries and their needs.

    A title of a few words is no secret: "Returns" stands over many documents.
    """
    yield from (text for _, text in sealed_texts(connection, split))
    membership = read_membership(connection, split)
    safe = {key for key, one in membership.documents.items() if one.part in SAFE_PARTS}
    for record in (SnapshotDocument, SnapshotChunk):
        titled = table(record)
        statement = sa.select(titled.c.document_id, titled.c.title).where(
            titled.c.snapshot_id == split.snapshot_id, titled.c.title.is_not(None)
        )
        for document, title in connection.execute(statement):
            if document not in safe and len(tokens(title)) >= SHORTEST:
                yield str(title)
    open_queries = {key for key, one in membership.queries.items() if one.part in SAFE_PARTS}
    version, text = table(QueryVersion), table(Text)
    needs = sa.select(version.c.query_id, text.c.body).join(text, text.c.id == version.c.need_id)
    for query, body in connection.execute(needs.where(text.c.body.is_not(None))):
        if query not in open_queries:
            yield str(body)
