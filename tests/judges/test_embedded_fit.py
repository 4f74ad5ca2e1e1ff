from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from labeler.calibration.label_model import GRADES
from labeler.errors import UsageError
from labeler.judges.embedded_fit import (
    CollectionFeatures,
    LabelledCollection,
    collection_features,
    cross_validated,
    evaluate,
    fit_on,
    skill_of,
)
from labeler.labels import Grade
from tests.hash_embedder import HashEmbedder

WORDS = (
    *("oil", "pump", "head", "bolt", "gasket", "filter"),
    *("torque", "nut", "valve", "seal", "hose", "belt"),
)


def collection(seed: int = 0, queries: int = 12) -> LabelledCollection:
    """Queries of three words; a passage is as relevant as it holds of them."""
    random = np.random.default_rng(seed)
    texts: dict[str, str] = {}
    passages: dict[str, str] = {}
    labels: dict[tuple[str, str], Grade] = {}
    for number in range(queries):
        wanted = random.choice(WORDS, size=3, replace=False).tolist()
        texts[f"q{number}"] = " ".join(wanted)
        for place in range(9):
            held = place % 3
            filler = [word for word in WORDS if word not in wanted]
            words = [*wanted[: held + (held == 2)], *random.choice(filler, size=5).tolist()]
            passages[f"q{number}p{place}"] = " ".join(words)
            labels[f"q{number}", f"q{number}p{place}"] = GRADES[held]
    return LabelledCollection("drawn", texts, passages, labels)


def test_features_keep_the_pairs_of_a_query_together() -> None:
    drawn = collection()
    found = collection_features(drawn, HashEmbedder())
    assert found.x.shape == (108, 8)
    assert found.query.tolist() == sorted(found.query.tolist())
    assert len(set(found.query.tolist())) == 12
    assert found.grades == [drawn.labels[pair] for pair in sorted(drawn.labels)]


def test_a_fit_tells_the_grades_of_queries_that_it_has_not_seen() -> None:
    seen = collection_features(collection(1), HashEmbedder())
    unseen = collection_features(collection(2), HashEmbedder())
    model = fit_on([seen], name="test")
    assert model.fitted_on == "drawn: 108 pairs of 12 queries"
    skill = evaluate(model, unseen)
    assert skill.auc is not None
    assert skill.auc > 0.95
    assert skill.log_loss < skill.prior_log_loss / 2
    assert skill.prior_log_loss == pytest.approx(np.log(3))
    assert (skill.pairs, skill.queries, skill.queries_with_both) == (108, 12, 12)
    assert skill.accuracy[0] >= skill.accuracy[-1] > 0.8


def test_cross_validation_finds_no_skill_where_queries_alone_explain_the_labels() -> None:
    # Every query has one grade and features of its own: within its query a model would be perfect.
    random = np.random.default_rng(3)
    query = np.repeat(np.arange(20), 10)
    centre = random.normal(size=(20, 8))
    noise = CollectionFeatures(
        "noise",
        centre[query] + 0.01 * random.normal(size=(200, 8)),
        random.integers(3, size=20)[query],
        query,
    )
    fitted = evaluate(fit_on([noise], name="test", l2=0.01), noise)
    honest = cross_validated(noise, folds=5, l2=0.01)
    assert fitted.log_loss < 0.9
    assert honest.log_loss > honest.prior_log_loss
    assert honest.auc_within_query is None


def test_cross_validation_is_reproducible() -> None:
    found = collection_features(collection(), HashEmbedder())
    assert cross_validated(found, seed=1) == cross_validated(found, seed=1)


def test_skill_of_known_probabilities() -> None:
    known = CollectionFeatures(
        "x", np.zeros((4, 8)), np.array([0, 1, 2, 0]), np.array([0, 0, 1, 1])
    )
    probabilities = np.array([[0.8, 0.1, 0.1], [0.4, 0.5, 0.1], [0.6, 0.1, 0.3], [0.7, 0.2, 0.1]])
    skill = skill_of(probabilities, known)
    assert skill.auc == 1.0
    assert skill.auc_within_query == 1.0
    assert skill.accuracy == pytest.approx((1.0, 1.0, 2 / 3, 0.75))
    assert skill.log_loss == pytest.approx(-np.log([0.8, 0.5, 0.3, 0.7]).mean())


def test_what_cant_be_fitted_is_refused() -> None:
    drawn = collection(queries=3)
    lost = dataclasses.replace(drawn, passages={})
    with pytest.raises(UsageError, match="no text"):
        collection_features(lost, HashEmbedder())
    with pytest.raises(UsageError, match="no labels"):
        collection_features(dataclasses.replace(drawn, labels={}), HashEmbedder())
    with pytest.raises(UsageError, match="folds"):
        cross_validated(collection_features(drawn, HashEmbedder()), folds=4)
    with pytest.raises(UsageError, match="collection"):
        fit_on([], name="test")
