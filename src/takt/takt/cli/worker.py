# SPDX-License-Identifier: Apache-2.0
"""``takt worker``: this machine as a host of experiments, or one of a cluster's machines."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

ANSWER_S = 10.0  # of a scheduler, until it counts as not there


def worker(
    scheduler: Annotated[
        str, typer.Argument(metavar="SCHEDULER", help="Its address: tcp://HOST:8786.")
    ],
    roles: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Argument(metavar="ROLE…", help="The names of hosts that this machine can be."),
    ] = None,
    address: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="This machine's, by which messages come. (default: of Dask's choice)"),
    ] = None,
) -> None:
    """Lend this machine to experiments and campaigns, as a worker of a Dask scheduler.

    Runs until Ctrl-C. Each role is a resource of the worker; an experiment takes it by its name.

    Exit code: that of the Dask worker, 2 where no scheduler answers.

    Example: takt worker tcp://desk:8786 component --address 192.168.1.7
    """
    import os
    import re
    import socket
    import sys

    from takt.cli.output import stderr
    from takt.errors import TaktError
    from takt.processes.agent import cache
    from takt.processes.workers import SCHEDULER

    if not re.fullmatch(r"(tcp|tls)://[^\s/]+:[0-9]{1,5}", scheduler):
        raise TaktError(
            f"{scheduler!r} is no address of a scheduler",
            where="SCHEDULER",
            remedy="give protocol, host and port: tcp://HOST:8786; dask scheduler prints it",
        )
    for role in roles or []:
        if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9_.-]{0,31}", role):
            raise TaktError(
                f"{role!r} is no name of a host",
                where="ROLE",
                remedy="take letters, digits, - _ and .",
            )
    known = re.fullmatch(r"(?:tcp|tls)://(.+):([0-9]{1,5})", scheduler)
    if known is None:
        raise TaktError(
            f"{scheduler!r} is no address of a scheduler",
            where="SCHEDULER",
            remedy="give it with its port, such as tcp://desk:8786",
        )
    try:
        socket.create_connection((known[1].strip("[]"), int(known[2])), ANSWER_S).close()
    except (OSError, OverflowError) as error:
        raise TaktError(
            f"no scheduler answers at {scheduler}: {error}",
            where="SCHEDULER",
            remedy=f"start it first: {SCHEDULER}; and see that the network lets its port through",
        ) from None
    command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler]
    command += ["--no-nanny", "--memory-limit", "0", "--no-dashboard"]
    command += ["--local-directory", str(cache())]  # Dask would leave locks in /tmp
    # Each role that is taken keeps a thread busy for as long as a cell lasts.
    command += ["--nthreads", str(len(roles or []) + 1)]
    if roles:
        command += ["--resources", " ".join(f"{role}=1" for role in roles)]
    if address:
        command += ["--host", address]
    # It would tell of every look at a program.
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "warning")
    able = f": {', '.join(roles)}" if roles else ""
    stderr().print(f"worker of {scheduler}{able}; Ctrl-C ends it", markup=False, soft_wrap=True)
    os.execv(sys.executable, command)  # noqa: S606 - no shell is wanted
