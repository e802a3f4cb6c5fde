# SPDX-License-Identifier: Apache-2.0
"""Whether PREEMPT_RT meets its deadlines, by the one judgement; the maxima only show the effect."""

from __future__ import annotations

from collections.abc import Sequence

from takt.lab.model import KernelResult, Latency, Verdict
from takt.lab.modes import WAYS, Mode
from takt.statistics.judgement import Outcome, overall

STOCK, RT = "stock", "rt"


def ratio(kernels: Sequence[KernelResult]) -> float | None:
    """The loaded maximum of the stock kernel as a multiple of the RT kernel's; None: not both."""
    maxima = {one.kernel: one.loaded_max_us for one in kernels}
    if STOCK not in maxima or not maxima.get(RT):
        return None
    return maxima[STOCK] / maxima[RT]


def of_kernel(latencies: Sequence[Latency], faults: Sequence[str]) -> Outcome:
    """All that was measured of one kernel; what did not work out leaves it undecided at best."""
    return overall([*(one.outcome for one in latencies), *(Outcome.undecided for _ in faults)])


def judge(kernels: Sequence[KernelResult], mode: Mode) -> Verdict:
    """The outcome of the RT kernel, with that of the stock kernel beside it."""
    by_name = {one.kernel: one for one in kernels}
    numbers = WAYS[mode].numbers
    if failed := [trial.trial for one in kernels for trial in one.trials if not trial.holds]:
        headline = f"Some trials failed ({', '.join(failed)})."
        return Verdict(outcome=Outcome.fails, headline=headline)
    if RT not in by_name:
        headline = "The RT kernel was not measured."
        return Verdict(outcome=Outcome.undecided, headline=headline)
    outcome = by_name[RT].outcome
    if not WAYS[mode].publishable:
        works = overall(one.outcome for one in kernels) is not Outcome.fails
        if works:
            headline = f"The kernels work; no verdict over {numbers}."
            return Verdict(outcome=Outcome.undecided, headline=headline)
        headline = "Some measurements did not work."
        return Verdict(outcome=Outcome.fails, headline=headline)
    words = [f"{_NAMES.get(one.kernel, one.kernel)}: {one.outcome.value}" for one in kernels]
    if times := ratio(kernels):
        words.append(f"under load, stock's maximum is {times:.3g} times that of PREEMPT_RT")
    return Verdict(outcome=outcome, headline=f"{'; '.join(words)} ({numbers}).")


_NAMES = {RT: "PREEMPT_RT"}
