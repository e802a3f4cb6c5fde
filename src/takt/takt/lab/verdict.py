# SPDX-License-Identifier: Apache-2.0
"""Whether PREEMPT_RT brings, on this machine, what it is for."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from takt.lab.model import KernelResult, Verdict
from takt.lab.modes import WAYS, Mode

STOCK, RT = "stock", "rt"
FACTOR = 10.0  # of the loaded maxima, at least


def ratio(kernels: Sequence[KernelResult]) -> float | None:
    """The loaded maximum of the stock kernel as a multiple of the RT kernel's; None: not both."""
    maxima = {one.kernel: one.loaded_max_us for one in kernels}
    if STOCK not in maxima or not maxima.get(RT):
        return None
    return maxima[STOCK] / maxima[RT]


def judge(kernels: Sequence[KernelResult], mode: Mode) -> Verdict:
    """The verdict over cyclictest's loaded maxima; none where something did not run to its end."""
    times, numbers = ratio(kernels), WAYS[mode].numbers
    if faulty := [one.kernel for one in kernels if one.faults or not one.latencies]:
        headline = f"No verdict: some measurements failed ({', '.join(faulty)})."
        return Verdict(holds=None, headline=headline)
    if failed := [trial.trial for one in kernels for trial in one.trials if not trial.holds]:
        headline = f"No verdict: some trials failed ({', '.join(failed)})."
        return Verdict(holds=None, headline=headline)
    if times is None:
        return Verdict(holds=None, headline="One of the two kernels was not measured.")
    if not WAYS[mode].publishable:
        return Verdict(holds=None, headline=f"The kernels work; no verdict over {numbers}.")
    holds = times >= FACTOR
    digits = 10 if times < FACTOR else 1  # rounded down: what is below the factor never reads as it
    much = f"{floor(times * digits) / digits:g} times"
    asked = "as expected" if holds else f"less than {FACTOR:.0f} times"
    return Verdict(
        holds=holds,
        headline=f"Under load the stock kernel's maximum is {much} that of PREEMPT_RT, {asked} "
        f"({numbers}).",
    )
