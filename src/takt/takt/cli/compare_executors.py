# SPDX-License-Identifier: Apache-2.0
"""``takt compare-executors``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from takt.cli.options import AsJson, Overheads
from takt.cli.simulate import ExecutionTimes, Text


def compare_executors(
    app: Annotated[Path, typer.Argument(metavar="APP.yaml", help="Application file.")],
    duration: Annotated[
        Text,
        typer.Option(
            help="Duration in virtual time of each simulation: 10s, or hyperperiod. (default: two "
            "hyperperiods and the largest offset, at most 60s)"
        ),
    ] = None,
    execution: Annotated[
        ExecutionTimes,
        typer.Option(
            help="Execution times. worst: always the worst case; drawn: from the distribution."
        ),
    ] = ExecutionTimes.drawn,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 1,
    length: Annotated[
        Text,
        typer.Option(
            "--for",
            metavar="TIME",
            help="End the comparison after this time; executors that are left are named.",
        ),
    ] = None,
    measure: Annotated[
        Text,
        typer.Option(
            metavar="TIME",
            help="Also execute it under each executor on this machine, three times for this time.",
        ),
    ] = None,
    overheads: Overheads = None,
    as_json: AsJson = False,
) -> None:
    """Compare executors for an application: each policy of Takt and rclcpp's own executors.

    For each callback and chain: the proved bound, the simulated percentiles and the largest value,
    and the verdict about its deadline or latency. For each executor, the factor on all execution
    times up to which the deadlines hold (of a robot, chains too). An executor that cannot run the
    application is named with the reason. Of a robot with several processes: each executor in one
    process at a time, the others as described, then in all of them.

    With --measure, what an execution of each gave, and findings: bounds that were exceeded, and
    which executor has the lowest latency of each chain in every round. Ctrl-C ends the executions;
    those that are complete count.

    Exit code: 0 the executor in the file guarantees everything, 1 it does not, 2 wrong use.

    Example: takt compare-executors examples/docking.app.yaml
    Example: takt compare-executors examples/reference_system.app.yaml --measure 10s
    """
    from takt.cli.output import bars, print_json, stdout
    from takt.cli.simulate import parse_length
    from takt.documents.units import parse_duration
    from takt.schedule.application.file import located, read_application
    from takt.schedule.application.flat import flat
    from takt.schedule.application.overheads import read_overheads
    from takt.schedule.executors.compare import compare
    from takt.schedule.executors.show import show

    def seconds(text: str | None, option: str) -> float | None:
        try:
            return parse_duration(text) / 1e9 if text else None
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint=option) from None

    limit, measure_s = seconds(length, "--for"), seconds(measure, "--measure")
    application = read_application(app)
    document = flat(application)
    if overheads:
        document["overheads"] = read_overheads(overheads)
    with located(application), bars() as bar:
        job = bar.add_task("comparing", total=1.0)
        comparison = compare(
            document,
            str(app),
            duration=parse_length(duration),
            execution=execution.value,
            seed=seed,
            limit=limit,
            measure_s=measure_s,
            progress=lambda name, share: bar.update(job, completed=share, description=name),
        )
    if as_json:
        print_json(comparison.model_dump(mode="json"))
    else:
        show(stdout(), comparison)
    if comparison.candidates[0].verdict != "meets":
        raise typer.Exit(1)
