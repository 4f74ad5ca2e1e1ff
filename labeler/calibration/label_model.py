"""The label model: signals in, a probability for each grade out.

Multinomial logistic regression over standardised features. The embedded judge ships with
coefficients (`shipped_model`); `fit` makes others from any labels.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeler.calibration.features import FEATURES
from labeler.errors import Fault, InputError, UsageError
from labeler.labels import Grade

__all__ = ["GRADES", "LabelModel", "fit", "shipped_model"]

GRADES: tuple[Grade, ...] = (Grade.NOT_RELEVANT, Grade.PARTIALLY_RELEVANT, Grade.FULLY_RELEVANT)
"""The order of the columns of probabilities, worst first."""

_STEPS = 100
_TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class LabelModel:
    """A fitted model; two with the same digest answer the same.

    Attributes:
        name: What the model is called where its probabilities are shown.
        features: The names of the features, in the order of the columns.
        mean: Shape (features,): subtracted from each feature.
        scale: Shape (features,): each feature is divided by it; above 0.
        coefficients: Shape (3, features), over standardised features, rows as in `GRADES`.
        intercepts: Shape (3,).
        fitted_on: In words, which labels the coefficients come from.
    """

    name: str
    features: tuple[str, ...]
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    fitted_on: str

    def __post_init__(self) -> None:
        count = len(self.features)
        shapes = {
            "mean": (count,),
            "scale": (count,),
            "coefficients": (len(GRADES), count),
            "intercepts": (len(GRADES),),
        }
        for attribute, shape in shapes.items():
            values = np.array(getattr(self, attribute), dtype=np.float64)
            if values.shape != shape or not np.isfinite(values).all():
                raise UsageError(f"label model '{self.name}': {attribute} isn't {shape} numbers")
            values.flags.writeable = False
            object.__setattr__(self, attribute, values)
        if not (self.scale > 0).all():
            raise UsageError(f"label model '{self.name}': a scale is above 0")

    def probabilities(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the probability of each grade.

        Args:
            x: Shape (n, features), not standardised.

        Returns:
            Shape (n, 3), columns as in `GRADES`; each row adds to 1.
        """
        standardised = (x - self.mean) / self.scale
        # A product and a sum by row: BLAS gives other bits to the same row in another place.
        products = standardised[:, np.newaxis, :] * self.coefficients
        return _softmax(products.sum(axis=2) + self.intercepts)

    @property
    def digest(self) -> str:
        """The SHA-256 of everything that decides the probabilities, and of the name."""
        return hashlib.sha256(self.to_json().encode("utf-8")).hexdigest()

    def to_json(self) -> str:
        """Write the model as canonical JSON; floats keep all their digits."""
        content = {
            "name": self.name,
            "fitted_on": self.fitted_on,
            "features": list(self.features),
            "mean": self.mean.tolist(),
            "scale": self.scale.tolist(),
            "grades": [grade.value for grade in GRADES],
            "coefficients": self.coefficients.tolist(),
            "intercepts": self.intercepts.tolist(),
        }
        return json.dumps(content, ensure_ascii=False, indent=2)

    @classmethod
    def from_json(cls, text: str, *, path: str = "label model") -> LabelModel:
        """Read what `to_json` wrote.

        Raises:
            InputError: When the text isn't a label model.
        """
        try:
            content: Mapping[str, Any] = json.loads(text)
            if content["grades"] != [grade.value for grade in GRADES]:
                raise ValueError("grades stand in another order")  # noqa: TRY301 - one message
            return cls(
                name=str(content["name"]),
                features=tuple(str(name) for name in content["features"]),
                mean=np.array(content["mean"], dtype=np.float64),
                scale=np.array(content["scale"], dtype=np.float64),
                coefficients=np.array(content["coefficients"], dtype=np.float64),
                intercepts=np.array(content["intercepts"], dtype=np.float64),
                fitted_on=str(content["fitted_on"]),
            )
        except (ValueError, KeyError, TypeError, UsageError) as error:
            raise InputError([Fault(path, None, f"isn't a label model: {error!r}")]) from None


def fit(
    x: NDArray[np.float64],
    grades: Sequence[Grade],
    *,
    l2: float,
    name: str,
    fitted_on: str,
    features: tuple[str, ...] = FEATURES,
) -> LabelModel:
    """Fit multinomial logistic regression by Newton's method.

    Minimises ``-sum(log p(grade)) + l2 / 2 * |coefficients|^2`` over standardised features; the
    intercepts carry no penalty and add to 0 (Hastie, Tibshirani and Friedman 2009, sections 4.4
    and 18.4). scikit-learn's ``C`` is ``1 / l2``.

    Args:
        x: Shape (n, features), finite.
        grades: n grades; at least two kinds.
        l2: The penalty, above 0.
        name: The model's name.
        fitted_on: In words, which labels these are.
        features: The names of the columns.

    Raises:
        UsageError: When there are fewer than two grades, shapes differ, or the penalty isn't
            above 0.
    """
    if x.ndim != 2 or x.shape != (len(grades), len(features)):  # noqa: PLR2004 - rows and columns
        raise UsageError(f"{len(grades)} grades and {len(features)} features don't fit {x.shape}")
    if l2 <= 0 or not np.isfinite(x).all():
        raise UsageError("a fit needs a penalty above 0 and finite features")
    if len(set(grades)) < 2:  # noqa: PLR2004 - one grade leaves nothing to tell apart
        raise UsageError("all labels have one grade; a label model needs two at least")
    mean = x.mean(axis=0)
    deviation = x.std(axis=0)
    scale = np.where(deviation > 1e-9, deviation, 1.0)  # noqa: PLR2004 - a constant column
    design = np.column_stack([(x - mean) / scale, np.ones(len(x))])
    weights = _newton(design, _one_hot(grades), l2)
    return LabelModel(
        name=name,
        features=features,
        mean=mean,
        scale=scale,
        coefficients=weights[:, :-1],
        intercepts=weights[:, -1],
        fitted_on=fitted_on,
    )


def shipped_model() -> LabelModel:
    """Give the coefficients that the embedded judge ships with."""
    source = files("labeler.calibration").joinpath("embedded.json")
    return LabelModel.from_json(source.read_text(encoding="utf-8"), path="embedded.json")


def _one_hot(grades: Sequence[Grade]) -> NDArray[np.float64]:
    column = {grade: place for place, grade in enumerate(GRADES)}
    return np.eye(len(GRADES))[[column[grade] for grade in grades]]


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    result: NDArray[np.float64] = shifted / shifted.sum(axis=1, keepdims=True)
    return result


def _newton(
    design: NDArray[np.float64], target: NDArray[np.float64], l2: float
) -> NDArray[np.float64]:
    """Minimise the penalised loss; the last column of the design is the constant 1.

    A grade without labels keeps a finite intercept through a slight penalty (1e-6), which also
    picks, of all intercepts that give the same probabilities, those that add to 0.
    """
    grades, columns = target.shape[1], design.shape[1]
    penalty = np.full(columns, l2, dtype=np.float64)
    penalty[-1] = 1e-6
    weights = np.zeros((grades, columns))
    loss, gradient = loss_and_gradient(weights, design, target, penalty)
    for _ in range(_STEPS):
        step = np.linalg.solve(_hessian(weights, design, penalty), gradient.ravel())
        decrease = float(gradient.ravel() @ step)
        if decrease < _TOLERANCE:
            break
        size = 1.0
        while size > 1e-8:  # noqa: PLR2004 - halving further changes nothing
            candidate = weights - size * step.reshape(grades, columns)
            new_loss, new_gradient = loss_and_gradient(candidate, design, target, penalty)
            if new_loss <= loss - 1e-4 * size * decrease:
                break
            size /= 2
        else:
            break
        weights, loss, gradient = candidate, new_loss, new_gradient
    return weights


def loss_and_gradient(
    weights: NDArray[np.float64],
    design: NDArray[np.float64],
    target: NDArray[np.float64],
    penalty: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64]]:
    """Give the penalised negative log likelihood and its gradient.

    Args:
        weights: Shape (grades, columns).
        design: Shape (n, columns).
        target: Shape (n, grades), one 1 in each row.
        penalty: Shape (columns,), the l2 penalty of each column.
    """
    logits = design @ weights.T
    top = logits.max(axis=1, keepdims=True)
    log_total = top + np.log(np.exp(logits - top).sum(axis=1, keepdims=True))
    loss = -float((target * (logits - log_total)).sum()) + 0.5 * float((penalty * weights**2).sum())
    gradient = (np.exp(logits - log_total) - target).T @ design + penalty * weights
    return loss, gradient


def _hessian(
    weights: NDArray[np.float64], design: NDArray[np.float64], penalty: NDArray[np.float64]
) -> NDArray[np.float64]:
    probabilities = _softmax(design @ weights.T)
    grades, columns = weights.shape
    hessian = np.zeros((grades * columns, grades * columns))
    for row in range(grades):
        for column in range(row, grades):
            weight = probabilities[:, row] * ((row == column) - probabilities[:, column])
            part = (design * weight[:, np.newaxis]).T @ design
            here = slice(row * columns, (row + 1) * columns)
            there = slice(column * columns, (column + 1) * columns)
            hessian[here, there] = part
            hessian[there, here] = part
    hessian[np.diag_indices_from(hessian)] += np.tile(penalty, grades)
    return hessian
