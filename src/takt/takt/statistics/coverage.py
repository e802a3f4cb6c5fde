# SPDX-License-Identifier: Apache-2.0
"""How often the interval of a tail holds the true level: a simulation with known distributions.

``python -m takt.statistics.coverage docs/reference/tails.md`` writes the table of the reference
anew; without a file it prints the table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import signal, stats

from takt.statistics import Floats
from takt.statistics.tails import Refusal, fit

SEED = 2026
SAMPLES = 400  # of each row of the table
WIDTH_US = 1e-3
MARK = "<!-- python -m takt.statistics.coverage -->\n"
_HEADINGS = (
    "distribution",
    "samples",
    "one in",
    "interval holds the level",
    "level above the interval",
    "exceeded, times the claim",
    "no estimate",
)
_BURST = 0.7  # correlation of neighbours
_SETTLES = 50  # samples before the first one


@dataclass(frozen=True)
class Known:
    """A distribution whose levels are known."""

    name: str
    level: Callable[[Any], Any]  # from probabilities of a larger value
    bursts: bool = False

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Samples in µs, in the order of time."""
        if not self.bursts:
            return np.asarray(self.level(rng.random(count)))
        steps = rng.standard_normal(_SETTLES + count) * np.sqrt(1 - _BURST**2)
        correlated = signal.lfilter([1.0], [1.0, -_BURST], steps)[_SETTLES:]
        return np.asarray(self.level(stats.norm.sf(correlated)))


@dataclass(frozen=True)
class Coverage:
    """Of many samples of one distribution."""

    known: Known
    count: int
    rarer: int  # than once in all samples
    fits: int
    refused: int
    held: int  # fits whose interval holds the true level
    above: int  # fits whose interval lies below it
    exceeded: float  # probability of a value above the level, times what is claimed; mean

    @property
    def share(self) -> float:
        """Of the intervals that hold the true level."""
        return self.held / self.fits


DISTRIBUTIONS = (
    Known("exponential", lambda p: 20 * stats.expon.isf(p)),
    Known("normal", lambda p: 100 + 10 * stats.norm.isf(p)),
    Known("gamma, shape 4", lambda p: 10 * stats.gamma.isf(p, 4)),
    Known("lognormal, sigma 0.5", lambda p: 100 * stats.lognorm.isf(p, 0.5)),
    Known("generalised Pareto, shape 0.2", lambda p: 20 * stats.genpareto.isf(p, 0.2)),
)
FURTHER = (
    Known("lognormal, sigma 1", lambda p: 100 * stats.lognorm.isf(p, 1.0)),
    Known("Weibull, shape 0.7", lambda p: 20 * stats.weibull_min.isf(p, 0.7)),
    Known("Gumbel", lambda p: 100 + 10 * stats.gumbel_r.isf(p)),
    Known("beta 2, 3: it has an end", lambda p: 100 * stats.beta.isf(p, 2, 3)),
    Known("Student's t, 5 degrees of freedom", lambda p: 100 + 10 * stats.t.isf(p, 5)),
    Known("exponential, in bursts", lambda p: 20 * stats.expon.isf(p), bursts=True),
)
CASES = ((1_000, 10), (2_000, 10), (20_000, 10), (2_000, 100))  # samples; how much rarer


def simulate(known: Known, count: int, rarer: int, samples: int) -> Coverage:
    """Fits so many samples; deterministic."""
    rng = np.random.default_rng([SEED, count, rarer, *known.name.encode()])
    probability = 1 / (count * rarer)
    true = float(known.level(probability))
    held = above = refused = 0
    levels: list[float] = []
    for _ in range(samples):
        drawn = np.round(known.draw(count, rng) / WIDTH_US).astype(np.int64)
        found = fit(*np.unique(drawn, return_counts=True), width_us=WIDTH_US, series=drawn)
        if isinstance(found, Refusal):
            refused += 1
            continue
        low, high = found.interval(probability)
        held += low <= true <= high
        above += true > high
        levels.append(found.level(probability))
    mean = float(_above(known, np.array(levels)).mean()) / probability
    return Coverage(known, count, rarer, len(levels), refused, held, above, mean)


def _above(known: Known, value: Floats) -> Floats:
    """The true probabilities of larger values, between those of a fine grid."""
    powers = np.linspace(-15, 0, 3001)
    return np.asarray(10 ** np.interp(value, known.level(10**powers)[::-1], powers[::-1]))


def table(samples: int = SAMPLES) -> str:
    """Markdown, a row for each distribution and case."""
    lines = [
        "| " + " | ".join(_HEADINGS) + " |",
        "|---|" + "---:|" * (len(_HEADINGS) - 1),
    ]
    for count, rarer in CASES:
        for known in (*DISTRIBUTIONS, *FURTHER):
            one = simulate(known, count, rarer, samples)
            lines.append(
                f"| {known.name} | {count:,} | {count * rarer:,} | {one.share:.1%} "
                f"| {one.above / max(one.fits, 1):.1%} | {one.exceeded:.2f} "
                f"| {one.refused / samples:.1%} |"
            )
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> None:
    """Writes the table into a page, in place of what follows the mark, or prints it."""
    if not arguments:
        print(table())
        return
    page = Path(arguments[0])
    before, mark, _ = page.read_text(encoding="utf-8").partition(MARK)
    page.write_text(before + mark + table(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
