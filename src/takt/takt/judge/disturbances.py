# SPDX-License-Identifier: Apache-2.0
"""What traces record of the machine's other work, in words, and what they do not record."""

from __future__ import annotations

from collections.abc import Sequence

from takt.judge.repetition import SIMULATOR
from takt.judge.trial import Trial
from takt.schedule.explain.show import programs

UNRECORDED = (
    "the trace does not record waits for a core (waits_from_ns): other programs cannot be "
    "distinguished from a callback that sleeps, and both count as a disturbance"
)


def disturbances(trials: Sequence[Trial]) -> list[str]:
    """Stolen time, other programs, and whether the trace records when its threads waited."""
    found = []
    if stolen := sum(sum(trial.metrics.stolen_ms.values()) for trial in trials):
        found.append(f"the hypervisor stole {stolen:.0f} ms of CPU time")
    found += [
        f"other programs had the cores of late jobs: {programs(trial.explanation.programs)}"
        for trial in trials
        if trial.explanation.programs
    ]
    if any(_blind(trial) for trial in trials):
        found.append(UNRECORDED)
    return found


def _blind(trial: Trial) -> bool:
    return trial.metrics.source != SIMULATOR and not trial.names.values("waits_from_ns")
