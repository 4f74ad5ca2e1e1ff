"""Exact intervals for a share of independent trials."""

from __future__ import annotations

import math

from labeler.errors import UsageError

__all__ = ["clopper_pearson"]

_HALVINGS = 200
"""More than enough: an interval between two neighbouring floats can't be halved further."""

_TINY = 1e-300
_CLOSE = 1e-15
_MOST_TERMS = 100_000


def clopper_pearson(
    successes: int, trials: int, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Give the exact interval of a probability, from both sides.

    The limits are the probabilities under which so many successes or more, and so many or fewer,
    have the probability (1 - confidence) / 2 (Clopper and Pearson 1934, Biometrika 26, 404-413).

    Args:
        successes: From 0 to the trials.
        trials: 1 or more.
        confidence: In (0, 1).

    Returns:
        The lower and the upper limit, in [0, 1].

    Raises:
        UsageError: When an argument is outside its range.
    """
    if trials < 1 or not 0 <= successes <= trials or not 0 < confidence < 1:
        raise UsageError(f"no interval for {successes} of {trials} at confidence {confidence}")
    tail = (1 - confidence) / 2
    k, n = float(successes), float(trials)
    # P(X >= k) of n trials with probability p is I_p(k, n - k + 1): Abramowitz and Stegun 26.5.24.
    low = 0.0 if successes == 0 else _beta_quantile(tail, k, n - k + 1)
    high = 1.0 if successes == trials else _beta_quantile(1 - tail, k + 1, n - k)
    return low, high


def _beta_quantile(probability: float, a: float, b: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        if _beta_probability(middle, a, b) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta_probability(x: float, a: float, b: float) -> float:
    """Give I_x(a, b) by the continued fraction of Abramowitz and Stegun 1964, formula 26.5.8.

    A sum over all counts would take a second for 10,000 trials.
    """
    if x > (a + 1) / (a + b + 2):  # there the fraction of the other tail converges faster
        return 1 - _beta_probability(1 - x, b, a)
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta) / a
    return front * _continued_fraction(x, a, b)


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Evaluate it from its head (Lentz 1976, as in Thompson and Barnett 1986, JCP 64, 490-509)."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or _TINY)
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d = 1 / (1 + step * d or _TINY)
            c = 1 + step / c or _TINY
            value *= c * d
        if abs(c * d - 1) < _CLOSE:
            break
    return value
