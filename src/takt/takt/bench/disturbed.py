# SPDX-License-Identifier: Apache-2.0
"""Whether a measurement of a benchmark was disturbed: by other programs, or by the hypervisor."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from takt.processes.others import Others
from takt.processes.stolen import steal_seconds

STOLEN_SHARE = 0.01  # of the time of one CPU; the executor has just one


@dataclass
class Disturbed:
    """What disturbed the measurements so far."""

    measurements: int = 0
    disturbed: int = 0  # of them
    others_seconds: float = 0.0  # CPU time of other programs in all of them, all CPUs
    steal_seconds: float = 0.0  # CPU time that the hypervisor took, in all of them, all CPUs

    @contextmanager
    def watched(self) -> Iterator[None]:
        """While one measurement runs."""
        others, stolen, began = Others(), steal_seconds(), time.monotonic()
        yield
        taken, elapsed = others.taken(), time.monotonic() - began
        steal = steal_seconds() - stolen
        self.measurements += 1
        self.disturbed += taken.much or steal > STOLEN_SHARE * elapsed
        self.others_seconds = round(self.others_seconds + taken.seconds, 3)
        self.steal_seconds = round(self.steal_seconds + steal, 3)

    def watching(self, measure: Callable[[], dict[str, float]]) -> Callable[[], dict[str, float]]:
        """The same measurement, watched each time."""

        def watched() -> dict[str, float]:
            with self.watched():
                return measure()

        return watched

    def remarks(self) -> list[str]:
        """What a reader of the figures must know; empty where nothing disturbed them."""
        if not self.disturbed:
            return []
        share = f"{self.disturbed} of {self.measurements} measurements"
        took = f"{self.others_seconds:.1f} s of CPU time, the hypervisor {self.steal_seconds:.1f} s"
        what = f"{share} were disturbed: other programs took {took}"
        return [f"{what}; figures may be too high, repeat on an idle machine"]
