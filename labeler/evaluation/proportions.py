"""Exact intervals for a share of independent trials."""

from __future__ import annotations

from labeler.errors import UsageError

__all__ = ["clopper_pearson"]


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
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    # P(X >= k) of n trials with probability p is I_p(k, n - k + 1): Abramowitz and Stegun 26.5.24.
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, tail))
    high = 1.0
    if successes < trials:
        high = float(betaincinv(successes + 1, trials - successes, 1 - tail))
    return low, high
