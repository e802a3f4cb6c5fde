# SPDX-License-Identifier: Apache-2.0
"""``takt simulate``."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import typer

from takt.cli.options import AsJson

if TYPE_CHECKING:
    from takt.schedule.simulation.model import SimulationResult


class ExecutionTimes(str, Enum):
    """How long jobs compute."""

    worst = "worst"
    drawn = "drawn"


Text = Optional[str]  # noqa: UP045 - typer reads it on Python 3.10
File = Optional[Path]  # noqa: UP045


def simulate(
    app: Annotated[Path, typer.Argument(metavar="APP.yaml", help="The application.")],
    duration: Annotated[
        Text,
        typer.Option(
            help="Of virtual time, such as 10s, or hyperperiod. (default: two hyperperiods and "
            "the largest offset, at most 60s)"
        ),
    ] = None,
    execution: Annotated[
        ExecutionTimes,
        typer.Option(help="worst: every job takes its worst case; drawn: from its distribution."),
    ] = ExecutionTimes.worst,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is drawn.")] = 1,
    trace: Annotated[
        File, typer.Option(metavar="FILE", help="Write a trace, which takt trace reads.")
    ] = None,
    overheads: Annotated[
        File,
        typer.Option(
            metavar="FILE",
            help="What takt bench overheads --json printed, instead of what APP.yaml says.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Play an application in virtual time, with the decisions of Takt's executor.

    Cores in virtual time are never taken away: what is late here is late by its own schedule.

    Exit code: 0 every deadline, age and latency kept its limit, 1 some did not, or nothing
    ever came, 2 wrong use.

    Example: takt simulate examples/docking.app.yaml --trace docking.takttrace
    """
    from takt.cli.output import print_json, stderr, stdout
    from takt.schedule.simulation.show import show

    result = _simulate(app, duration, execution.value, seed, trace, overheads)
    if as_json:
        print_json(result.model_dump(mode="json", exclude_unset=True))
    else:
        show(stdout(), result)
        if trace:
            stdout().print(f"{trace}: takt trace reads it", soft_wrap=True)
    if result.interrupted:
        stderr().print("interrupted; this is what was simulated until then", soft_wrap=True)
    if not result.holds:
        raise typer.Exit(1)


def _simulate(
    app: Path,
    duration: str | None,
    execution: Literal["worst", "drawn"],
    seed: int,
    trace: Path | None,
    overheads: Path | None,
) -> SimulationResult:
    from takt.cli.output import bars
    from takt.schedule.analysis.ask import read_overheads
    from takt.schedule.application.file import located, read_application
    from takt.schedule.application.flat import flat
    from takt.schedule.simulation.simulate import simulate as run

    application = read_application(app)
    document = flat(application)
    if overheads:
        document["overheads"] = read_overheads(
            overheads, "upper" if execution == "worst" else "overheads"
        )
    with located(application), bars() as bar:
        job = bar.add_task("simulating", total=1.0)
        return run(
            document,
            where=str(app),
            duration=_duration(duration),
            seed=seed,
            execution=execution,
            trace=trace,
            progress=lambda share: bar.update(job, completed=share),
        )


def _duration(text: str | None) -> int | Literal["hyperperiod"] | None:
    from takt.documents.units import parse_duration
    from takt.errors import TaktError

    if text is None or text == "hyperperiod":
        return text  # type: ignore[return-value]
    try:
        duration = parse_duration(text)
    except ValueError as error:
        raise TaktError(str(error), where="--duration", remedy="give 10s, or hyperperiod") from None
    if duration == 0:
        raise TaktError("nothing happens in no time", where="--duration", remedy="give 10s")
    return duration
