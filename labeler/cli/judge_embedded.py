"""`labeler judge embedded-fit` and `embedded-evaluate`: the embedded judge's coefficients."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from labeler.cli.output import Progress, print_facts, print_json, tell
from labeler.cli.project import JsonOutput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labeler.judges.embedded_fit import CollectionFeatures, Skill
    from labeler.providers.embeddings import Embedder

Labels = Annotated[
    Path | None,
    Parameter(name="--labels", help="The labels; by default qrels.txt, else qrels/*.tsv."),
]
ScaleName = Annotated[
    str | None, Parameter(name="--scale", help="The labels' scale; read off them by default.")
]
Mapping = Annotated[
    tuple[str, ...],
    Parameter(name="--map", negative="", help="What a code means: 4=fully_relevant. Repeatable."),
]
QueryCount = Annotated[
    int | None, Parameter(name="--queries", help="Draw so many labelled queries; all by default.")
]
Cache = Annotated[
    Path | None, Parameter(name="--cache", help="Keep vectors in this file; a second run is quick.")
]


def embedded_evaluate(
    folder: Path,
    /,
    *,
    coefficients: Path | None = None,
    folds: int | None = None,
    labels: Labels = None,
    scale: ScaleName = None,
    mapping: Mapping = (),
    queries: QueryCount = None,
    seed: int = 0,
    cache: Cache = None,
    threads: int | None = None,
    json: JsonOutput = False,
) -> None:
    """Measure the embedded judge on a labelled collection: a folder in the layout of BEIR.

    Parameters
    ----------
    folder
        The folder, with corpus.jsonl, queries.jsonl and labels.
    coefficients
        Coefficients that `embedded-fit` wrote; the shipped ones by default.
    folds
        Fit on this very collection instead, whole queries dealt to so many folds, each answered by
        a fit on the others.
    seed
        Draws and deals the queries.
    threads
        Threads for embedding.
    """
    from labeler.judges.coefficients import read_coefficients
    from labeler.judges.embedded_fit import cross_validated, evaluate

    started = time.monotonic()
    features, passages, told = _features(
        folder, labels, scale, mapping, queries, seed, cache, threads
    )
    seconds = time.monotonic() - started
    if folds is not None:
        model_name = f"fitted on {features.name}, {folds} folds by query"
        skill = cross_validated(features, folds=folds, seed=seed)
    else:
        model = read_coefficients(coefficients)
        model_name = f"{model.name}, fitted on {model.fitted_on}"
        skill = evaluate(model, features)
    if skill.auc is None:
        tell("note: all labels are of one kind, relevant or not, so no AUC tells them apart")
    facts = {
        "collection": features.name,
        "coefficients": model_name,
        **told,
        **_figures(skill),
        "passages": passages,
        "seconds, less for cached vectors": round(seconds, 1),
    }
    if json:
        print_json(facts)
    else:
        print_facts(facts)


def embedded_fit(
    folder: Path,
    /,
    *,
    out: Path,
    name: str | None = None,
    labels: Labels = None,
    scale: ScaleName = None,
    mapping: Mapping = (),
    queries: QueryCount = None,
    seed: int = 0,
    cache: Cache = None,
    threads: int | None = None,
    json: JsonOutput = False,
) -> None:
    """Fit the embedded judge's coefficients on a labelled collection, and write them to a file.

    `labeler judge run POOL --coefficients FILE` judges with them. What they are worth is printed
    by 5 folds over queries.

    Parameters
    ----------
    folder
        The folder, with corpus.jsonl, queries.jsonl and labels.
    out
        The file to write.
    name
        What the coefficients are called; the folder's name by default.
    seed
        Draws and deals the queries.
    threads
        Threads for embedding.
    """
    from labeler.judges.coefficients import write_coefficients
    from labeler.judges.embedded_fit import cross_validated, fit_on

    features, _, told = _features(folder, labels, scale, mapping, queries, seed, cache, threads)
    model = fit_on([features], name=name or features.name)
    write_coefficients(out, model)
    facts: dict[str, object] = {
        "file": str(out),
        "name": model.name,
        "fitted on": model.fitted_on,
        "digest": model.digest,
        **told,
        **_figures(cross_validated(features, seed=seed)),
    }
    if json:
        print_json(facts)
    else:
        print_facts(facts)


def _features(
    folder: Path,
    labels: Path | None,
    scale: str | None,
    mapping: tuple[str, ...],
    queries: int | None,
    seed: int,
    cache: Path | None,
    threads: int | None,
) -> tuple[CollectionFeatures, int, dict[str, object]]:
    """Read a collection and compute its features; also how many passages were embedded."""
    from labeler.imports.collection import read_collection
    from labeler.imports.report import split_mapping
    from labeler.judges.embedded_fit import LabelledCollection, collection_features, drawn

    read = read_collection(folder, labels=labels, scale=scale, mapping=split_mapping(mapping))
    for notice in read.notices:
        tell(f"note: {notice}")
    collection = LabelledCollection(read.name, read.queries, read.passages, read.labels)
    if queries is not None:
        collection = drawn(collection, queries, seed)
    texts = sorted({collection.passages[passage] for _, passage in collection.labels})
    embedder = _embedder(cache, threads)
    with Progress("embedding passages") as progress:
        for done, part in _parts(texts, 16):
            embedder.passages(part)
            progress.advance(done, len(texts))
    told: dict[str, object] = {"scale": read.scale, "pairs left out": read.left_out}
    return collection_features(collection, embedder), len(texts), told


def _parts(texts: list[str], size: int) -> Iterator[tuple[int, list[str]]]:
    for start in range(0, len(texts), size):
        part = texts[start : start + size]
        yield start + len(part), part


def _embedder(cache: Path | None, threads: int | None) -> Embedder:
    from labeler.judges.embedding_cache import stored_embedder
    from labeler.providers.embeddings import CachedEmbedder, E5Embedder, MemoryCache
    from labeler.store.database import open_store
    from labeler.store.location import Location

    if cache is None:
        return CachedEmbedder(E5Embedder(threads=threads), MemoryCache())
    return stored_embedder(open_store(Location(str(cache)), create=True), threads=threads)


def _figures(skill: Skill) -> dict[str, object]:
    def rounded(value: float | None) -> float | None:
        return None if value is None else round(value, 3)

    def shares(values: tuple[float, ...]) -> str:
        return " / ".join(f"{value:.2f}" for value in values)

    return {
        "pairs": skill.pairs,
        "queries": skill.queries,
        "AUC, relevant or not": rounded(skill.auc),
        "AUC within a query": rounded(skill.auc_within_query),
        "queries with both": skill.queries_with_both,
        "log loss, three grades": rounded(skill.log_loss),
        "log loss of the shares": rounded(skill.prior_log_loss),
        "ECE of the grade": rounded(skill.calibration_error),
        "ECE of relevant or not": rounded(skill.relevance_calibration_error),
        "accuracy at 20/40/60/100%": shares(skill.accuracy),
        "accuracy of relevant or not": shares(skill.state_accuracy),
    }
