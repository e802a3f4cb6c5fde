# SPDX-License-Identifier: Apache-2.0
"""``takt execute``."""

from __future__ import annotations

import contextlib
import re
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from takt.cli.options import AsJson, Supply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from takt.schedule.application.model import Application
    from takt.schedule.execution.model import Execution
    from takt.schedule.execution.places import Places
    from takt.schedule.metrics.model import Metrics


def execute(
    application: Annotated[Path, typer.Argument(metavar="APP.yaml", help="Application file.")],
    approach: Annotated[
        Optional[str],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(
            help="Who runs the callbacks. takt: its executor; baseline0: one wait set in one "
            "thread, as ROS 2 does it without Takt; baseline1: a process for each node. With "
            "rclcpp installed also its executors (rclcpp_single_threaded, _multi_threaded, "
            "_events, _events_cbg), rclcpp_baseline1: baseline1 with the first of them, and "
            "rclcpp_takt: Takt's for nodes of rclcpp. (default: the executor in the "
            "application file)",
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        Optional[str],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(
            help="Scheduling policy in place of the one in the application file, such as edf."
        ),
    ] = None,
    duration: Annotated[
        str, typer.Option(help="Duration, counted from the first release.")
    ] = "30s",
    overheads: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            metavar="FILE",
            help="Overheads: a trace of takt execute, or printed by takt bench overheads "
            "--json; takt explain counts them as "
            "declared.",
        ),
    ] = None,
    supply: Supply = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the execution times.")] = 1,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "-o",
            "--out",
            help="Write the trace to this folder. (default: results/NAME-TIME)",
            show_default=False,
        ),
    ] = None,
    hosts: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Machine of each host of a robot: pc=here,motors=namespace puts motors behind a "
            "link; instead of namespace the role or the address of a worker.",
            show_default=False,
        ),
    ] = None,
    link: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Bandwidth of the link to the namespace. (default: 100Mbps)"),
    ] = None,
    scheduler: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Address of a Dask scheduler whose workers are hosts of the robot: "
            "tls://HOST:8786."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Execute an application on ROS 2 and measure it.

    Callbacks burn the CPU time in the application file; messages have the declared sizes. Ctrl-C
    ends the execution early and keeps the trace.

    Exit code: 0 executed, even with misses, 1 stopped, failed, no job ended, or a limit fails
    because nothing arrived, 2 wrong use.

    Example: takt execute examples/docking.app.yaml --approach baseline1 --duration 10s
    """
    from takt.cli.output import print_json, stderr
    from takt.errors import TaktError
    from takt.measure.results.store import create, create_default
    from takt.schedule.absence.model import fails
    from takt.schedule.execution import APPROACHES
    from takt.schedule.execution import execute as executed
    from takt.schedule.execution.execute import SUFFIX
    from takt.schedule.execution.model import ExecutionDocument
    from takt.schedule.metrics import measure

    if approach is not None and approach not in APPROACHES:
        raise TaktError(
            f"unknown approach {approach!r}",
            where="--approach",
            fix="one of " + ", ".join(APPROACHES),
        )
    seconds = _seconds(duration)
    described, flat = _load(application)
    approach = approach or str(flat.get("executor", "takt"))
    if overheads:
        from takt.schedule.application.overheads import read_overheads

        flat["overheads"] = read_overheads(overheads)
    if supply:
        from takt.schedule.application.supply import add_supply

        add_supply(flat, supply)
    name = str(flat.get("name") or application.stem)
    folder = create(out) if out else create_default(name, datetime.now(timezone.utc))
    try:
        with (
            _placed(described),
            _places(hosts, link, scheduler) as places,
            stderr().status("starting") as status,
        ):
            found = executed(
                flat,
                approach,
                trace=folder / f"{name}.{approach}{SUFFIX}",
                duration_s=seconds,
                policy=policy,
                seed=seed,
                places=places,
                progress=lambda now: status.update(
                    f"{approach}: {now:.0f} s of about {seconds:.0f} s"
                ),
            )
            status.update("measuring")
            metrics = measure(found.trace)
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()  # where nothing came of it
    if as_json:
        print_json(ExecutionDocument(**found.model_dump(), metrics=metrics).model_dump(mode="json"))
    else:
        _show(found, metrics)
    if found.status != "complete" or not metrics.executions or fails(metrics.absences):
        raise typer.Exit(1)


@contextlib.contextmanager
def _places(hosts: str | None, link: str | None, scheduler: str | None) -> Iterator[Places | None]:
    """The machines of the hosts of a robot, while this is open; None: there is one."""
    from takt.cli.session import workers
    from takt.documents.units import parse_bandwidth
    from takt.errors import TaktError
    from takt.network.namespace import THERE
    from takt.schedule.execution.places import Places, parse

    if hosts is None:
        if option := "--link" if link else "--scheduler" if scheduler else None:
            raise TaktError(
                f"{option} is given, and no hosts",
                where=option,
                fix=f"add --hosts HOST=MACHINE,…, or omit {option}",
            )
        yield None
        return
    try:
        bits_per_s = parse_bandwidth(link or "100Mbps")
    except ValueError as error:
        raise TaktError(str(error), where="--link") from None
    machines = parse(hosts)
    if link and THERE not in machines.values():
        raise TaktError(
            f"--link is given, and no host is {THERE}",
            where="--link",
            fix=f"give a host the machine {THERE}, or omit --link",
        )
    with workers(scheduler) as found:
        yield Places(machines, found, bits_per_s)


def _seconds(duration: str) -> float:
    from takt.documents.units import parse_duration
    from takt.errors import TaktError

    try:
        nanoseconds = parse_duration(duration)
    except ValueError as error:
        raise TaktError(str(error), where="--duration") from None
    if nanoseconds == 0:
        raise TaktError("duration must be greater than 0", where="--duration", fix="give 30s")
    return nanoseconds / 1e9


@contextlib.contextmanager
def _placed(described: Application | None) -> Iterator[None]:
    """Gives what the runner refuses about an app.yaml the line that it is about."""
    from takt.errors import Failure, TaktError

    try:
        yield
    except TaktError as error:
        refused = error.where is None and not isinstance(error, Failure)
        if described is not None and refused:
            error.where = described.where(error.what)
        raise


def _load(path: Path) -> tuple[Application | None, dict[str, Any]]:
    """An app.yaml and its flat form; None: the file holds this form already."""
    from takt.documents.reading import read_json
    from takt.errors import TaktError, shortened
    from takt.schedule.application.file import read_application
    from takt.schedule.application.flat import flat

    if path.suffix != ".json":
        described = read_application(path)
        return described, flat(described)
    document: dict[str, Any] = read_json(path)
    if not isinstance(document, dict) or not isinstance(document.get("callbacks"), list):
        raise TaktError(
            "this is not the flat form of an application",
            where=str(path),
            fix="give the app.yaml; takt converts it to the flat form",
        )
    name = document.get("name") or path.stem  # of the files that are written
    if not isinstance(name, str) or not re.fullmatch(r"[\w.-]{1,100}", name) or name[0] == ".":
        raise TaktError(
            f"the name {shortened(repr(name), 80)} is not a valid file name",
            where=str(path),
            fix="use letters, digits and underscores",
        )
    return None, document


def _show(found: Execution, metrics: Metrics) -> None:
    from takt.cli.output import stderr, stdout
    from takt.schedule.metrics.show import remarks, show

    show(stdout(), metrics)
    for line in remarks(metrics):
        stderr().print(line, markup=False, soft_wrap=True)
    if found.status != "complete":
        stderr().print("stopped early", style="yellow")
    if not metrics.executions:
        stderr().print("no job ended during the execution", style="yellow")
    for line in [*found.throttled, *found.links, *found.clocks]:
        stderr().print(line, style="dim", markup=False, soft_wrap=True)
    for disturbance in found.disturbances:
        stderr().print(f"disturbance: {disturbance}", style="yellow", markup=False, soft_wrap=True)
    if metrics.misses:
        hint = f"to explain the misses: takt explain {found.trace}"
        stderr().print(hint, markup=False, soft_wrap=True)
