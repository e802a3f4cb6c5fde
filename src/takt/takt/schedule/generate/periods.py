# SPDX-License-Identifier: Apache-2.0
"""Periods of many sets at once, one set a row, in ns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
MS = 1_000_000

# Kramer, Ziegenbein & Hamann 2015 (real world automotive benchmarks for free), Table III: the share
# of the runnables with each period, in ms and %; those that follow the crankshaft are left out.
AUTOMOTIVE = {1: 3, 2: 2, 5: 2, 10: 25, 20: 25, 50: 3, 100: 20, 200: 1, 1000: 4}


def equal(count: int, tasks: int, choices: list[int], rng: np.random.Generator) -> Integers:
    """Each period for the same number of tasks, as far as possible, in random order."""
    values = np.array(choices, dtype=np.int64)
    whole = np.tile(np.repeat(values, tasks // len(values)), (count, 1))
    rest = rng.permuted(np.tile(values, (count, 1)), axis=1)[:, : tasks % len(values)]
    return rng.permuted(np.concatenate((whole, rest), axis=1), axis=1)


def log_uniform(
    count: int, tasks: int, least: int, most: int, rng: np.random.Generator
) -> Integers:
    """Log-uniform between two periods, whole multiples of the least one (Emberson et al. 2010)."""
    logs = rng.uniform(np.log(least), np.log(most + least), (count, tasks))
    multiples = np.floor(np.exp(logs) / least).astype(np.int64)
    return np.clip(multiples, 1, most // least) * least


def automotive(count: int, tasks: int, rng: np.random.Generator) -> Integers:
    """Each period with its share of Kramer et al. 2015."""
    shares = np.array(list(AUTOMOTIVE.values()), dtype=np.float64)
    values = np.array(list(AUTOMOTIVE), dtype=np.int64) * MS
    return rng.choice(values, size=(count, tasks), p=shares / shares.sum())
