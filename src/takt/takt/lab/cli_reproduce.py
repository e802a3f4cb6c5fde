# SPDX-License-Identifier: Apache-2.0
"""``takt lab reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import AsJson
from takt.lab.modes import Mode

LIMIT_S = 4 * 3600.0  # of each guest, in the host's time


def reproduce(
    paper: Annotated[str, typer.Argument(help="ye2023.")],
    scale: Annotated[
        float,
        typer.Option(
            min=1e-6,
            max=1.0,
            help="Scale of the experiments; 1 is the original length of the paper.",
        ),
    ] = 0.0002,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Measure only wake-ups and timers, without ROS 2."),
    ] = False,
    mode: Annotated[Mode, typer.Option(help="Clock of the guests, as in takt lab.")] = Mode.icount,
    seed: Annotated[int, typer.Option(min=1, help="Random seed of the guests.")] = 1,
    out: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(
            "-o",
            "--out",
            help="Write results to this folder. (default: results/lab-PAPER-TIME)",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Repeat a paper's comparison of two kernels in virtual machines, on one page.

    Boots Debian's stock and RT kernel, measures in each what the paper measured under both, and
    judges the statements that take two kernels, like takt reproduce --beside. Times are those of
    takt lab: they are compared with each other, never with the paper's. A run that was stopped
    continues with the same options and its folder as --out.

    Exit code: 0 done, 1 a guest or a measurement failed, 2 wrong use.

    Example: takt lab reproduce ye2023 --quick
    """
    from datetime import datetime, timezone

    from takt.cli.output import print_json, stderr, stdout
    from takt.lab import kernels as known
    from takt.lab import reproduced
    from takt.lab.compare import Asked, measured_programs
    from takt.lab.guest import check_installed
    from takt.lab.trial import trial
    from takt.measure.results.store import create_default

    module = reproduced.check(paper, mode)
    check_installed()
    measured_programs(reproduced.PROGRAMS)
    with stderr().status("downloading Debian's kernels with apt") as status:
        kernels = [one for one in known.find(show=status.update) if not one.options]
        if mode is Mode.kvm:
            status.update("a trial boot under KVM")
            trial(kernels[0])
        folder = out or create_default(f"lab-{paper}", datetime.now(timezone.utc))
        asked = Asked(mode, 0, not quick, LIMIT_S, seed)
        found = reproduced.reproduce(paper, kernels, asked, scale, folder, status.update)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        module.show_guests(stdout(), found)
    if not all(one.complete for one in found.sides):
        raise typer.Exit(1)
