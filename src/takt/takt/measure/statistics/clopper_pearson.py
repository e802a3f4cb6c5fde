# SPDX-License-Identifier: Apache-2.0
"""How probable something is at most that came up k times of n.

None of 1,000 does not mean never. The bound is the one of Clopper & Pearson (The use of confidence
or fiducial limits illustrated in the case of the binomial, Biometrika 26, 1934): the probability at
which k or fewer of n would come up only in a fraction 1 - confidence of all runs. It never promises
more than its confidence, for any n and p, provided that the samples are independent.
"""

from __future__ import annotations

from math import exp

from scipy.special import betainc, betaincc, betaincinv, betaln, xlog1py, xlogy


def upper_bound(times: int, of: int, confidence: float) -> float:
    """One-sided; 1 where it always came up. ValueError for what cannot be.

    Its relative error is below 1e-9 for any number up to 1e9.
    """
    if not (0 <= times <= of and of > 0 and 0 < confidence < 1):
        raise ValueError(f"{times} of {of} at a confidence of {confidence}")
    if times == of:
        return 1.0
    a, b = times + 1, of - times
    bound = float(betaincinv(a, b, confidence))
    if not 0 < bound < 1:
        return bound
    # For a few of many the inverse has lost digits that the function itself still has.
    slope = exp(float(xlogy(a - 1, bound) + xlog1py(b - 1, -bound) - betaln(a, b)))
    low = float(betainc(a, b, bound)) - confidence
    high = (1 - confidence) - float(betaincc(a, b, bound))
    return bound - (low if confidence < 0.5 else high) / slope
