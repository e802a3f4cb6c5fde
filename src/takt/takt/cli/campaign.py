# SPDX-License-Identifier: Apache-2.0
"""``takt campaign``: applications in bulk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from takt.cli.options import AsJson

if TYPE_CHECKING:
    from takt.schedule.campaign.folder import Folder
    from takt.schedule.campaign.model import Campaign, ExecutionSettings, Totals
    from takt.schedule.campaign.violations import Kept


def campaign(
    grid: Annotated[
        Path,
        typer.Argument(
            metavar="GRID.json", help="Parameters or parameter ranges, as for takt generate."
        ),
    ],
    repeat: Annotated[
        int,
        typer.Option(
            min=1, max=1_000_000, help="Number of applications per parameter combination."
        ),
    ] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 1,
    do: Annotated[
        str, typer.Option(help="Steps, comma-separated: analyse, simulate, execute.")
    ] = "analyse,simulate",
    out: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(
            "-o",
            "--out",
            help="Campaign folder; an existing campaign is continued. (default: campaigns/NAME)",
            show_default=False,
        ),
    ] = None,
    scheduler: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Address of a Dask scheduler: tls://HOST:8786. (default: this machine)"),
    ] = None,
    workers: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            min=1, help="Number of worker processes on this machine. (default: one per CPU)"
        ),
    ] = None,
    approaches: Annotated[
        str,
        typer.Option(
            help="Executors for the step execute, such as takt, baseline0, "
            "baseline1 or rclcpp_takt, comma-separated."
        ),
    ] = "takt",
    duration: Annotated[str, typer.Option(help="Duration of one execution.")] = "30s",
    executions: Annotated[
        int, typer.Option(min=1, help="Number of executions of each application.")
    ] = 5,
    overheads: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            metavar="FILE",
            help="Overheads: a trace of takt execute, or printed by takt bench overheads "
            "--json; added to every job and every "
            "bound.",
        ),
    ] = None,
    supply: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            metavar="FILE",
            help="Supply of the cores, written by takt measure supply; counted in every "
            "bound. Executions are compared with the bounds of whole cores, too.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Generate applications in bulk, and analyse, simulate or execute them.

    An application with a guarantee that fails in simulation is a violation; none is expected. The
    smallest violations of each kind are reduced to a minimal app.yaml. Repeat the same command to
    continue a stopped campaign and to retry failures. Analysis and simulation are distributed over
    Dask workers; executions run one at a time, in random order.

    Exit code: 0 done, 1 something failed, was stopped, or a guarantee does not hold, 2 wrong use.

    Example: takt campaign examples/parameter_ranges.json --repeat 100 --do analyse,simulate
    """
    from takt.cli.output import print_json, stderr
    from takt.documents.reading import read_json
    from takt.documents.writing import failure
    from takt.schedule.application.overheads import read_overheads
    from takt.schedule.application.supply import read_supply
    from takt.schedule.campaign.folder import RESULT, Folder, write_json
    from takt.schedule.campaign.model import SCHEMA_VERSION, Campaign
    from takt.schedule.campaign.summary import summarise
    from takt.schedule.generate.space import read_space

    deeds = _chosen(do, "--do", ("analyse", "simulate", "execute"))
    execution = _execution(approaches, duration, executions) if "execute" in deeds else None
    space = read_space(grid)
    document = read_json(grid)
    costs = read_overheads(overheads) if overheads else None
    cores = read_supply(supply) if supply else None
    asked = Campaign(document, space, repeat, seed, deeds, execution, costs, cores)
    folder = Folder(out or Path("campaigns") / grid.stem, asked)
    stopped, kept = False, []
    try:
        _evaluate(folder, asked, scheduler, workers)
        kept = _keep(folder, asked)
        if execution:
            _execute(folder, asked)
    except KeyboardInterrupt:
        stopped = True
    except OSError as error:
        if error.filename is None:  # no file's
            raise
        failed = failure(error)
        fix = "repeat the same command to continue"
        failed.fix = f"{failed.fix}; {fix} in this folder" if failed.fix else fix
        raise failed from None
    counts = summarise(folder, asked)
    result: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "status": "stopped" if stopped else "complete",
        **vars(counts),
        "violations": [vars(one) | {"file": str(one.file)} for one in kept],
        "results": str(folder.path),
    }
    write_json(folder.path / RESULT, result)
    if as_json:
        print_json(result)
    else:
        _show(counts, kept, folder)
    executions = sum(one["failed"] for one in (counts.executions or {}).values())
    failures = counts.failed + executions
    if stopped:
        stderr().print(
            "Stopped; repeat the same command to continue.", style="yellow", markup=False
        )
    elif failures:
        for hint in _hints(folder, executions + folder.again(), failures):
            stderr().print(hint, style="yellow", markup=False, soft_wrap=True)
    if stopped or failures or counts.bound_violations:
        raise typer.Exit(1)


def _hints(folder: Folder, again: int, failures: int) -> Iterator[str]:
    """What comes of those that failed: they are tried again, or what was said of them stays."""
    if again:
        yield f"{again} failed; repeat the same command to retry them."
    if refused := failures - again:
        yield (
            f"{refused} were rejected, and a retry does not help; see the column error of "
            f"{folder.sets}/*.parquet."
        )


def _chosen(text: str, option: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    from takt.errors import TaktError

    names = {name.strip() for name in text.split(",")}
    if unknown := sorted(names - set(allowed)):
        raise TaktError(
            f"unknown value {unknown[0]!r}; allowed: {', '.join(allowed)}",
            where=option,
            fix=f"separate several with commas: {option} {','.join(allowed[:2])}",
        )
    return tuple(name for name in allowed if name in names)


def _execution(approaches: str, duration: str, executions: int) -> ExecutionSettings:
    from takt.documents.units import parse_duration
    from takt.errors import TaktError
    from takt.schedule.campaign.model import ExecutionSettings
    from takt.schedule.execution import APPROACHES

    try:
        seconds = parse_duration(duration) / 1e9
    except ValueError as error:
        raise TaktError(str(error), where="--duration") from None
    if seconds == 0:
        raise TaktError("duration must be greater than 0", where="--duration", fix="30s")
    return ExecutionSettings(_chosen(approaches, "--approaches", APPROACHES), seconds, executions)


def _evaluate(folder: Folder, asked: Campaign, scheduler: str | None, workers: int | None) -> None:
    from takt.schedule.campaign import cluster

    if not {"analyse", "simulate"} & set(asked.do):
        return
    batches = list(asked.batches())
    remaining = folder.remaining(batches)
    if not remaining:
        return
    total = sum(batch.size for batch in batches)
    left = sum(batch.size for batch in remaining)
    with _bars() as bars, cluster.cluster(scheduler, workers) as client:
        bar = bars.add_task(f"{total} sets", total=total, completed=total - left)

        def keep(batch: Any, table: Any, error: str | None) -> None:
            folder.keep(batch, table, error)
            if error is not None:
                bars.console.print(f"failed {batch.name}: {error}", style="red", markup=False)
            bars.update(bar, advance=batch.size)

        cluster.evaluate(client, asked, remaining, keep)


def _execute(folder: Folder, asked: Campaign) -> None:
    from takt.schedule.campaign.execute import execute

    with _bars() as bars:
        bar = bars.add_task("executions", total=None)

        def begin(order: int, total: int, name: str) -> None:
            bars.update(bar, total=total, completed=order, description=f"executing {name}")

        for error in execute(folder, asked, begin):
            if error is not None:
                bars.console.print(f"failed: {error}", style="red", markup=False)


def _keep(folder: Folder, asked: Campaign) -> list[Kept]:
    """Shrinks the violations that were found, if any."""
    from takt.schedule.campaign.violations import chosen, keep

    total = len(chosen(folder))
    if not total:
        return []
    kept = []
    with _bars() as bars:
        bar = bars.add_task("shrinking violations", total=total)
        for one in keep(folder, asked):
            kept.append(one)
            bars.update(bar, advance=1)
    return kept


def _counted(key: str, value: int | None) -> str:
    name = key.replace("_", " ")
    return f"{name} unknown" if value is None else f"{value} {name}"


def _bars() -> Any:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Left

    from takt.cli.output import bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Left())
    return bars(*columns, refresh_per_second=2)


def _show(counts: Totals, kept: list[Kept], folder: Folder) -> None:
    from takt.cli.output import stdout
    from takt.pages.row_table import of_cells

    keys = ("sets", "accepted", "bound_violations", "misses_in_accepted", "failed")
    rows = []
    for row in counts.combinations:
        label = ", ".join(f"{key} {value}" for key, value in row["parameters"].items())
        rows.append((label, *(row[key] for key in keys)))
    if len(rows) != 1:
        rows.append(("all", *(getattr(counts, key) for key in keys)))
    headings = ("combination", "sets", "accepted", "above bound", "misses in accepted", "failed")
    console = stdout()
    if counts.combinations:
        console.print(of_cells(headings, rows))
    for row in counts.policies:
        if row["share"] is None:
            continue
        text = f"{row['policy']}: {row['share']:.1%} of {row['sets']} accepted"
        text += f", {row['failed']} failed" if row["failed"] else ""
        console.print(text, soft_wrap=True, markup=False, highlight=False)
    for one in kept:
        text = f"{one.policy}, {one.text}\n  {one.command}"
        console.print(text, style="red", soft_wrap=True, markup=False, highlight=False)
    for approach, numbers in (counts.executions or {}).items():
        text = ", ".join(_counted(key, value) for key, value in numbers.items())
        console.print(f"{approach}: {text}", soft_wrap=True, markup=False)
    console.print(f"results: {folder.path}", soft_wrap=True, markup=False)
