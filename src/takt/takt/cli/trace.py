# SPDX-License-Identifier: Apache-2.0
"""``takt trace``."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from takt.cli.options import AsJson

if TYPE_CHECKING:
    from takt.schedule.trace.file import Trace
    from takt.schedule.trace.summary import TraceSummary


def trace(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="TRACE",
            help="Trace file that takt execute, takt simulate --trace or an executor of your own "
            "(Options::trace) wrote, or a folder of takt execute or takt record.",
        ),
    ],
    perfetto: Annotated[
        Path | None,
        typer.Option(metavar="OUT", help="Write a file for ui.perfetto.dev (.pftrace[.gz])."),
    ] = None,
    parquet: Annotated[
        Path | None,
        typer.Option(metavar="OUT", help="Write events.parquet and jobs.parquet to this folder."),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT",
            help="Write a line for each datum that was made or used, with its UNIX time.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Summarise each task in a trace of the executor or the simulator, or in a recording.

    A response lasts from the intended release to the end of the job. The trace of a killed or
    running process is read as far as it was written.

    Exit code: 0 summarised, even with misses, 2 wrong use, or a file that is no trace.

    Example: takt trace docking.takttrace --perfetto docking.pftrace
    """
    from takt.cli.output import print_json, stderr, stdout
    from takt.schedule.trace import file as files
    from takt.schedule.trace.show import remarks, show

    summary = _replay(files.read(file), perfetto, parquet, log)
    if as_json:
        print_json(summary.model_dump(mode="json"))
        return
    show(stdout(), summary)
    for line in remarks(summary):
        stderr().print(line, markup=False, soft_wrap=True)
    if perfetto:
        stdout().print(f"{perfetto}: open at https://ui.perfetto.dev", soft_wrap=True)
    if parquet:
        stdout().print(f"{parquet}: events.parquet, jobs.parquet", soft_wrap=True)
    if log:
        stdout().print(f"{log}: takt metrics {log} reads it", soft_wrap=True)


def _replay(
    trace: Trace, perfetto: Path | None, parquet: Path | None, log: Path | None
) -> TraceSummary:
    """Reads the trace once, for the summary and for what is to be written."""
    from takt.cli.output import bars
    from takt.documents.writing import failure, replacing
    from takt.schedule.metrics.data_log import DataLog
    from takt.schedule.trace.file import Sink, replay
    from takt.schedule.trace.parquet import ParquetExport
    from takt.schedule.trace.perfetto import PerfettoExport
    from takt.schedule.trace.summary import Summing

    summing = Summing(trace)
    sinks: list[Sink] = [summing]
    written: list[str] = []
    where = " or ".join(str(path) for path in (perfetto, parquet, log) if path)
    for option, path in (("--perfetto trace.pftrace", perfetto), ("--log trace.log", log)):
        if path:
            _refuse_trace(path, option)
    try:
        with ExitStack() as open_files:
            if perfetto:
                file = open_files.enter_context(replacing(perfetto))
                export = PerfettoExport(trace, file, compressed=perfetto.suffix == ".gz")
                sinks.append(open_files.enter_context(closing(export)))
                written.append(str(perfetto))
            if parquet:
                parquet.mkdir(parents=True, exist_ok=True)
                files = [parquet / "events.parquet", parquet / "jobs.parquet"]
                events, jobs = (open_files.enter_context(replacing(one)) for one in files)
                tables = ParquetExport(trace, events, jobs)
                sinks.append(open_files.enter_context(closing(tables)))
                written += map(str, files)
            if log:
                lines = DataLog(trace, open_files.enter_context(replacing(log)))
                sinks.append(open_files.enter_context(closing(lines)))
                written.append(str(log))
            bar = open_files.enter_context(bars())
            job = bar.add_task("reading", total=trace.events)
            replayed = replay(trace, sinks, lambda done: bar.update(job, completed=done))
    except OSError as error:
        failed = failure(error)
        raise type(failed)(
            f"cannot write the file: {failed.what}", where=failed.where or where, fix=failed.fix
        ) from None
    return summing.result(replayed.not_nested).model_copy(update={"written": written})


def _refuse_trace(path: Path, option: str) -> None:
    from takt.errors import TaktError
    from takt.schedule.trace.file import is_trace

    if is_trace(path):
        raise TaktError(
            "this file is a trace; takt does not overwrite it",
            where=str(path),
            fix=f"choose another name: {option}",
        )
