# SPDX-License-Identifier: Apache-2.0
"""``takt simulate``."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import typer

from takt.cli.options import AsJson, Supply

if TYPE_CHECKING:
    from takt.schedule.simulation.model import SimulationResult


class ExecutionTimes(str, Enum):
    """How long jobs compute."""

    worst = "worst"
    drawn = "drawn"


Text = Optional[str]  # noqa: UP045 - typer reads it on Python 3.10
File = Optional[Path]  # noqa: UP045


def simulate(
    app: Annotated[Path, typer.Argument(metavar="APP.yaml", help="Application file.")],
    duration: Annotated[
        Text,
        typer.Option(
            help="Duration in virtual time: 10s, or hyperperiod. (default: two hyperperiods and "
            "the largest offset, at most 60s)"
        ),
    ] = None,
    execution: Annotated[
        ExecutionTimes,
        typer.Option(
            help="Execution times. worst: always the worst case; drawn: from the distribution."
        ),
    ] = ExecutionTimes.worst,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 1,
    trace: Annotated[
        File, typer.Option(metavar="FILE", help="Write a trace file, readable by takt trace.")
    ] = None,
    overheads: Annotated[
        File,
        typer.Option(
            metavar="FILE",
            help="Overheads: a trace of takt execute, or printed by takt bench overheads "
            "--json; replace those in APP.yaml.",
        ),
    ] = None,
    supply: Supply = None,
    as_json: AsJson = False,
) -> None:
    """Simulate an application in virtual time, with the scheduling decisions of Takt's executor.

    Cores in virtual time are always available: a late job is late because of its own schedule.

    Exit code: 0 all deadlines, ages and latencies kept their limits, 1 a limit was exceeded, or no
    data arrived, 2 wrong use.

    Example: takt simulate examples/docking.app.yaml --trace docking.takttrace
    """
    from takt.cli.output import print_json, stderr, stdout
    from takt.schedule.simulation.show import show

    result = _simulate(app, duration, execution.value, seed, trace, overheads, supply)
    if as_json:
        print_json(result.model_dump(mode="json", exclude_unset=True))
    else:
        show(stdout(), result)
        if trace:
            stdout().print(f"{trace}: read it with takt trace", soft_wrap=True)
    if result.interrupted:
        stderr().print("interrupted; the result covers the time simulated so far", soft_wrap=True)
    if not result.holds:
        raise typer.Exit(1)


def _simulate(
    app: Path,
    duration: str | None,
    execution: Literal["worst", "drawn"],
    seed: int,
    trace: Path | None,
    overheads: Path | None,
    supply: str | None,
) -> SimulationResult:
    from takt.cli.output import bars
    from takt.schedule.application.file import located, read_application
    from takt.schedule.application.flat import flat
    from takt.schedule.application.overheads import read_overheads
    from takt.schedule.application.supply import add_supply
    from takt.schedule.simulation.simulate import simulate as run

    application = read_application(app)
    document = flat(application)
    if overheads:
        document["overheads"] = read_overheads(
            overheads, "upper" if execution == "worst" else "overheads"
        )
    if supply:
        add_supply(document, supply)
    with located(application), bars() as bar:
        job = bar.add_task("simulating", total=1.0)
        return run(
            document,
            where=str(app),
            duration=parse_length(duration),
            seed=seed,
            execution=execution,
            trace=trace,
            progress=lambda share: bar.update(job, completed=share),
        )


def parse_length(text: str | None) -> int | Literal["hyperperiod"] | None:
    """``--duration``, in ns."""
    from takt.documents.units import parse_duration
    from takt.errors import TaktError

    if text is None or text == "hyperperiod":
        return text  # type: ignore[return-value]
    try:
        duration = parse_duration(text)
    except ValueError as error:
        raise TaktError(str(error), where="--duration", fix="give 10s, or hyperperiod") from None
    if duration == 0:
        raise TaktError("duration must be greater than 0", where="--duration", fix="give 10s")
    return duration
