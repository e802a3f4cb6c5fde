# SPDX-License-Identifier: Apache-2.0
"""Hands an application to the simulator."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from takt.documents.writing import failure, replacing
from takt.errors import TaktError
from takt.schedule.analysis.ask import refused
from takt.schedule.simulation.absences import absences
from takt.schedule.simulation.model import SimulationResult


def simulate(
    flat: dict[str, Any],
    *,
    where: str,
    duration: int | Literal["hyperperiod"] | None = None,
    seed: int = 1,
    execution: Literal["worst", "drawn"] = "worst",
    trace: Path | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> SimulationResult:
    """Plays an application (its flat form) in virtual time.

    ``duration`` is in ns; None: two hyperperiods and the largest offset, at most 60 s. Ctrl-C ends
    it early and keeps what was simulated. Raises TaktError for what an executor would refuse.
    """
    import takt_core

    text = json.dumps(flat)
    try:
        kept = replacing(trace) if trace else nullcontext()
        hyperperiod = takt_core.hyperperiod(text)
        duration_ns = _in_ns(duration, hyperperiod, where)
        with kept as temporary, _interruptible() as interrupted:

            def look(share: float) -> bool:
                progress(share)
                return not interrupted()

            document = takt_core.simulate(
                text,
                duration_ns=duration_ns,
                seed=seed,
                execution=execution,
                trace=str(temporary or ""),
                progress=look,
            )
    except takt_core.Error as error:
        raise refused(error, where) from None
    except OSError as error:
        raise failure(error) from None
    result = SimulationResult.model_validate(
        {
            **document,
            **({"duration_from": duration} if duration == "hyperperiod" else {}),
            "hyperperiod_ms": None if hyperperiod is None else hyperperiod / 1e6,
            "trace": str(trace) if trace else None,
        }
    )
    declared = takt_core.declared(text, scenarios=True, threads=takt_core.Threads.all)
    never = list(absences(result, declared))
    return result.model_copy(update={"absences": never})


def _in_ns(
    duration: int | Literal["hyperperiod"] | None, hyperperiod: int | None, where: str
) -> int:
    if duration is None:
        return 0
    if duration != "hyperperiod":
        return duration
    if hyperperiod is None:
        raise TaktError(
            "its periods have no common multiple below 292 years",
            where=where,
            fix="give a duration, such as --duration 60s",
        )
    return hyperperiod


@contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Ctrl-C is noted here instead of raised, where that is possible (the main thread)."""
    asked = False

    def note(_signal: int, _frame: FrameType | None) -> None:
        nonlocal asked
        asked = True

    try:
        before = signal.signal(signal.SIGINT, note)
    except ValueError:  # not the main thread: nobody sends it signals
        yield lambda: False
        return
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)
