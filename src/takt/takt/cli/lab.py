# SPDX-License-Identifier: Apache-2.0
"""``takt lab``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import AsJson
from takt.lab.modes import Mode

PARTS = ("image", "runs")
# Of each measurement in the guest's time; of each guest in the host's.
QUICK_S, WHOLE_S = 8, 10
QUICK_LIMIT_S, WHOLE_LIMIT_S = 900.0, 3600.0


def lab(
    context: typer.Context,
    quick: Annotated[
        bool, typer.Option("--quick", help="Stock and RT kernel, without ROS 2: a few minutes.")
    ] = False,
    mode: Annotated[
        Mode,
        typer.Option(
            help="icount: instruction time, one virtual CPU; kvm: this host's time, where a trial "
            "boot works; functional: only whether it works."
        ),
    ] = Mode.icount,
    seed: Annotated[
        int, typer.Option(min=1, help="Of what the guest takes for chance; icount repeats it.")
    ] = 1,
    out: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(help="Folder of the results. (default: results/lab-TIME)", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare native Linux with PREEMPT_RT in virtual machines, on any machine.

    Debian's kernels come through apt, once, and are not installed. Each is booted in QEMU and
    measured idle and loaded: cyclictest with five threads, Takt's wake-up probe, and, unless it is
    to be quick, a timer and a round trip of ROS 2 and an executed application. In the functional
    mode doctor, tune, a stepped clock and a CPU taken offline are tried inside, too. Times of the
    default mode are instructions at 2 ns each, the same on every machine, and never to be compared
    with times of real ones.

    Exit code: 0 the stock kernel's maximum under load is at least ten times that of PREEMPT_RT (or
    the mode allows no verdict), 1 it is not, or a guest or a trial failed, 2 wrong use.

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

    check_installed()
    measured_programs()
    with stderr().status("asking apt for Debian's kernels") as status:
        kernels = known.find(tell=status.update)
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
    wrong = any(one.faults or not all(t.holds for t in one.trials) for one in found.kernels)
    if found.verdict.holds is False or wrong:
        raise typer.Exit(1)
