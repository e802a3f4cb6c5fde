# SPDX-License-Identifier: Apache-2.0
"""``takt lab hosts``."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import AsJson
from takt.lab.modes import Mode

LIMIT_S = 3600.0  # of each guest, in the host's time
_MBPS = 10  # what an emulated processor of 500 million instructions a second can carry


class Stack(str, Enum):
    """What sends the messages."""

    raw = "raw"
    rcl = "rcl"


class Transport(str, Enum):
    """The way of the messages."""

    udp = "udp"
    xdp = "xdp"


def hosts(
    samples: Annotated[
        int, typer.Option(min=200, help="Number of round trips of each test, one every 10 ms.")
    ] = 1000,
    rounds: Annotated[int, typer.Option(min=1, help="Number of times each test runs.")] = 3,
    traffic: Annotated[
        int, typer.Option(min=1, help="UDP traffic in each direction, in Mbit/s.")
    ] = _MBPS,
    stack: Annotated[
        Stack,
        typer.Option(
            help="Communication stack of the messages: raw UDP, or DDS below ROS 2 (rcl)."
        ),
    ] = Stack.raw,
    transport: Annotated[
        Transport,
        typer.Option(help="Transport of the messages: udp, or xdp (AF_XDP) with the stack raw."),
    ] = Transport.udp,
    mode: Annotated[Mode, typer.Option(help="Clock of the guests, as in takt lab.")] = Mode.icount,
    seed: Annotated[int, typer.Option(min=1, help="Random seed of the guests.")] = 1,
    out: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(
            "-o",
            "--out",
            help="Write results to this folder. (default: results/lab-hosts-TIME)",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure round trips between two virtual machines with PREEMPT_RT under load and traffic.

    Boots Debian's RT kernel twice, as controller and component of Gutierrez et al. 2018, connected
    by emulated network cards with interrupt threads. Runs tests 1.D (load), 2.F (load and traffic)
    and 4.A (the same with raised priorities of the interrupt threads and of ksoftirqd), and
    2.F-normal (all these threads at normal priority), by raw UDP or by DDS below ROS 2. Compares
    their shares of late round trips. Times are those of takt lab, never of a real machine. A run
    that was stopped continues with the same options and its folder as --out.

    Exit code: 0 done, 1 a guest or a test failed, 2 wrong use.

    Example: takt lab hosts
    """
    from datetime import datetime, timezone

    from takt.cli.output import print_json, stderr, stdout
    from takt.errors import TaktError
    from takt.lab import kernels
    from takt.lab.between import PROGRAMS, Asked, measure
    from takt.lab.compare import measured_programs
    from takt.lab.guest import check_installed
    from takt.lab.hosts import NAME
    from takt.lab.show_hosts import show
    from takt.measure.results.store import create_default

    if transport is Transport.xdp and stack is not Stack.raw:
        raise TaktError(
            f"the stack {stack.value} has no transport xdp",
            where="--transport",
            fix="--stack raw, or remove --transport",
        )
    check_installed()
    measured_programs(PROGRAMS)
    with stderr().status("downloading Debian's kernels with apt") as status:
        kernel = kernels.real_time(kernels.OF_A_NETWORK, show=status.update)
        folder = out or create_default(NAME, datetime.now(timezone.utc))
        asked = Asked(mode, samples, rounds, traffic, LIMIT_S, seed, stack.value, transport.value)
        found = measure(kernel, asked, folder, status.update)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        show(stdout(), found)
    if any(one.fault for one in found.tests):
        raise typer.Exit(1)
