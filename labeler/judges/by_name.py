"""The judges that can be named on the command line."""

from __future__ import annotations

from pathlib import Path

from labeler.assessment.verdict import Judge
from labeler.errors import NotFoundError
from labeler.judges.run import PooledBlocks
from labeler.records.scales import AssessorKind
from labeler.store.database import Store

__all__ = ["judge_named"]


def judge_named(
    name: str,
    store: Store,
    pooled: PooledBlocks,
    *,
    coefficients: Path | None = None,
    threads: int | None = None,
) -> tuple[Judge, AssessorKind]:
    """Make the judge of a name, ready for a pool.

    Args:
        name: The judge.
        store: The project, whose embedding cache is used.
        pooled: What will be judged; term statistics come from its passages.
        coefficients: A file of coefficients; None takes the shipped ones.
        threads: Threads to embed with.

    Raises:
        NotFoundError: When there is no such judge.
        MissingExtraError: When what it runs on is not installed.
        JudgeError: When it can't run here.
    """
    if name != "embedded":
        raise NotFoundError(f"there is no judge '{name}'", hint="--judge embedded needs no key")
    from labeler.judges.coefficients import read_coefficients
    from labeler.judges.embedded import EmbeddedJudge, judged_text
    from labeler.judges.embedding_cache import stored_embedder
    from labeler.search.lexical import TermStatistics

    embedder = stored_embedder(store, threads=threads)
    passages = {judged_text(item) for block in pooled.blocks for item in block.items}
    statistics = TermStatistics.from_texts(sorted(passages))
    return EmbeddedJudge(
        embedder, read_coefficients(coefficients), statistics
    ), AssessorKind.EMBEDDED
