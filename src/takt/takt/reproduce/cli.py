# SPDX-License-Identifier: Apache-2.0
"""``takt reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import AsJson
from takt.reproduce import papers


def reproduce(
    paper: Annotated[str, typer.Argument(help=f"{', '.join(papers.names())}.")],
    runs: Annotated[
        Optional[list[Path]],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Argument(
            metavar="RUN…",
            help="With --beside: results folders of reproductions, or their bundles.",
            show_default=False,
        ),
    ] = None,
    scale: Annotated[
        float,
        typer.Option(
            min=1e-6,
            max=1.0,
            help="Scale of the experiments; 1 is the original length of the paper.",
        ),
    ] = 0.0002,
    out: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(
            "-o",
            "--out",
            help="Write results to this folder; continue an earlier reproduction there. (default: "
            "results/PAPER-TIME)",
            show_default=False,
        ),
    ] = None,
    hosts: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="ROLE=HOST,ROLE=HOST",
            help="Measure between machines: for each of the paper's, the address or name of its "
            "worker, or here; gutierrez2018: controller=HOST,component=HOST.",
            show_default=False,
        ),
    ] = None,
    scheduler: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="With --hosts: address of the scheduler of the workers: tls://HOST:8786."
        ),
    ] = None,
    within: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            metavar="DOMAIN",
            help="Measure in this ROS domain, within the system that runs there, such as a robot.",
            show_default=False,
        ),
    ] = None,
    beside: Annotated[
        bool,
        typer.Option(
            "--beside",
            help="Measure nothing: put the given runs (kernels, machines, versions) on one page.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Repeat the experiments of a paper on this machine, and compare with its published figures.

    A finding that does not hold here is a result, not a failure: the machine differs. So are
    messages that a middleware loses in every attempt: the report names them, and the next run with
    the same folder tries again.

    Exit code: 0 all was measured, 1 something failed or was stopped, 2 wrong use.

    Example: takt reproduce sticha2014 --scale 0.0002
    Example: takt reproduce ye2023 --beside results/native results/preempt-rt.zip
    """
    from takt.cli import session as shared
    from takt.cli.output import print_json, stderr, stdout
    from takt.errors import TaktError
    from takt.reproduce import reproduce as reproduced
    from takt.reproduce.hosts import parse, resolve
    from takt.reproduce.model import Request
    from takt.reproduce.show import show

    if beside or runs:
        if not beside:
            raise TaktError(
                "runs are given, but not --beside",
                where=str((runs or [])[0]),
                fix=f"takt reproduce {paper} --beside RUN RUN; to continue a run: --out RUN",
            )
        _beside(paper, runs or [], out, as_json=as_json)
        return
    machines = parse(hosts, papers.hosts(paper), paper) if hosts else {}
    if bool(machines) != bool(scheduler):
        raise TaktError(
            "hosts and the scheduler of their workers belong together",
            where="--hosts" if machines else "--scheduler",
            fix="give both: --hosts ROLE=HOST,ROLE=HOST --scheduler tls://HOST:8786",
        )
    if within is not None:
        papers.refuse_without_experiment(paper, "--within")
    with shared.workers(scheduler) as workers, stderr().status(f"{paper}: planning") as status:
        request = Request(
            scale,
            out,
            say=lambda text: status.update(f"{paper}: {text}"),
            announce=lambda text: status.console.print(text, soft_wrap=True, markup=False),
            hosts=resolve(machines, workers) if workers else {},
            workers=workers,
            within=within,
        )
        outcome = reproduced(paper, request)
    document = outcome.model_dump(mode="json")
    if as_json:
        print_json(document)
    else:
        show(stdout(), outcome)
    if not outcome.complete:
        hint = f"Continue with: takt reproduce {paper} --scale {scale:g} --out {outcome.results}"
        hint += f" --hosts {hosts} --scheduler {scheduler}" if hosts else ""
        hint += f" --within {within}" if within is not None else ""
        stderr().print(hint, style="yellow", soft_wrap=True, markup=False)
        raise typer.Exit(1)


def _beside(paper: str, runs: list[Path], out: Path | None, *, as_json: bool) -> None:
    from takt.cli.output import print_json, stderr, stdout
    from takt.reproduce import set_beside
    from takt.reproduce.beside.show import show

    with stderr().status(f"{paper}: reading the runs") as status:
        comparison = set_beside(paper, runs, out, lambda text: status.update(f"{paper}: {text}"))
    if as_json:
        print_json(comparison.model_dump(mode="json"))
    else:
        show(stdout(), comparison)
