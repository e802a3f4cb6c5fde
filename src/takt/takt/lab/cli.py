# SPDX-License-Identifier: Apache-2.0
"""``takt lab``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import AsJson
from takt.lab.modes import Mode

PARTS = ("hosts", "image", "reproduce", "runs")
# Of each measurement in the guest's time; of each guest in the host's.
QUICK_S, WHOLE_S = 8, 10
QUICK_LIMIT_S, WHOLE_LIMIT_S = 900.0, 3600.0


def lab(
    context: typer.Context,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Compare only the stock and the RT kernel, without ROS 2; takes a few minutes.",
        ),
    ] = False,
    mode: Annotated[
        Mode,
        typer.Option(
            help="Clock of the guests. icount: counted instructions, one virtual CPU; kvm: host "
            "time, needs a working KVM; functional: no timing, only checks that everything "
            "works."
        ),
    ] = Mode.icount,
    seed: Annotated[
        int,
        typer.Option(min=1, help="Random seed of the guest; mode icount repeats a run exactly."),
    ] = 1,
    out: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(
            "-o",
            "--out",
            help="Write results to this folder. (default: results/lab-TIME)",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare native Linux with PREEMPT_RT in virtual machines, on any machine.

    Downloads Debian's kernels once through apt, without installing them. Boots each kernel in QEMU
    and measures it idle and loaded: cyclictest with five threads, Takt's wake-up probe and, without
    --quick, a timer and a round trip of ROS 2 and an executed application. The functional mode also
    tries doctor, tune, a stepped clock and a CPU taken offline inside the guest. The default mode
    counts instructions at 2 ns each: its times are the same on every machine and cannot be compared
    with times of real machines.

    Judges the RT kernel like takt check: fewer than 1 in 1,000 responses late or missing.

    Exit code: 0 done, 1 the RT kernel fails, or a guest or a trial failed, 2 wrong use.

    Example: takt lab --quick
    """
    if context.invoked_subcommand:
        return
    from datetime import datetime, timezone

    from takt.cli.output import print_json, stderr, stdout
    from takt.lab import kernels as known
    from takt.lab.compare import Asked, compare, measured_programs
    from takt.lab.guest import check_installed
    from takt.lab.show import show
    from takt.lab.trial import trial
    from takt.measure.results.store import create_default
    from takt.statistics.judgement import Outcome

    check_installed()
    measured_programs()
    with stderr().status("downloading Debian's kernels with apt") as status:
        kernels = known.find(show=status.update, module="" if quick else known.OF_A_LINK)
        if mode is Mode.kvm:
            status.update("a trial boot under KVM")
            trial(kernels[0])
        if quick:
            kernels = [one for one in kernels if not one.options]
        folder = out or create_default("lab", datetime.now(timezone.utc))
        asked = Asked(
            mode,
            QUICK_S if quick else WHOLE_S,
            not quick,
            QUICK_LIMIT_S if quick else WHOLE_LIMIT_S,
            seed,
        )
        found = compare(kernels, asked, folder, status.update)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        show(stdout(), found)
    if found.verdict.outcome is Outcome.fails or any(one.faults for one in found.kernels):
        raise typer.Exit(1)
