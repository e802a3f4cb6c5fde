# SPDX-License-Identifier: Apache-2.0
"""``takt worker``: this machine as a host of experiments, or one of a cluster's machines."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from takt.cli.options import AllowRoot


def worker(
    scheduler: Annotated[
        str, typer.Argument(metavar="SCHEDULER", help="Address of the scheduler: tls://HOST:8786.")
    ],
    roles: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Argument(
            metavar="ROLE…", help="Host names of an experiment that this machine can serve as."
        ),
    ] = None,
    address: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Address at which this machine receives messages. (default: that towards the "
            "scheduler)"
        ),
    ] = None,
    allow_root: AllowRoot = False,
) -> None:
    """Offer this machine to experiments and campaigns, as a worker of a Dask scheduler.

    Runs until Ctrl-C. Each role is a resource of the worker; experiments select it by name. Every
    machine with a certificate of the scheduler's authority can run any code here, as this user.

    Exit code: that of the Dask worker, 2 where no scheduler answers or this machine is not invited.

    Example: takt worker tls://desk:8786 component --address 192.168.1.7
    """
    import os
    import re
    import sys

    from takt.cli.options import refuse_root
    from takt.cli.output import stderr
    from takt.errors import TaktError
    from takt.network.agent import cache
    from takt.network.scheduler import NO_PAGES, PAGES_AT, check_loopback, find

    for role in roles or []:
        if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9_.-]{0,31}", role):
            raise TaktError(
                f"invalid host name {role!r}",
                where="ROLE",
                fix="use letters, digits, - _ and .",
            )
    found = find(scheduler, "SCHEDULER")
    if address and found.identity is None:
        check_loopback(address, "--address")
    refuse_root(allow_root)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", found.address]
    command += ["--no-nanny", "--memory-limit", "0", "--host", address or found.own_address]
    command += ["--no-dashboard", "--dashboard-address", PAGES_AT]
    command += ["--local-directory", str(cache())]  # Dask would leave locks in /tmp
    command += ["--preload", "takt.network.worker_end"]
    # Each role that is taken keeps a thread busy for as long as a cell lasts.
    command += ["--nthreads", str(len(roles or []) + 1)]
    if roles:
        command += ["--resources", " ".join(f"{role}=1" for role in roles)]
    # It would tell of every look at a program.
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "warning")
    os.environ.update(NO_PAGES)
    os.environ.update(found.identity.environment() if found.identity else {})
    able = f": {', '.join(roles)}" if roles else ""
    stderr().print(f"worker of {scheduler}{able}; Ctrl-C stops it", markup=False, soft_wrap=True)
    os.execv(sys.executable, command)  # noqa: S606 - no shell is wanted
