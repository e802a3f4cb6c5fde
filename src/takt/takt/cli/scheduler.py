# SPDX-License-Identifier: Apache-2.0
"""``takt scheduler``: where workers, experiments and campaigns of several machines meet."""

from __future__ import annotations

from typing import Annotated

import typer

from takt.cli.options import AllowRoot

PARTS = ("invite", "join")


def scheduler(
    context: typer.Context,
    address: Annotated[
        str, typer.Option(help="Address at which other machines reach this one.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="TCP port; 0 selects any free port.")
    ] = 8786,
    allow_root: AllowRoot = False,
) -> None:
    """Start the Dask scheduler that connects workers, experiments and campaigns.

    Runs until Ctrl-C. It accepts only TLS connections from machines with a certificate of one
    authority: the one of this machine, created at the first start (~/.config/takt/workers), or the
    one it joined. Invite other machines with takt scheduler invite; the user of this machine needs
    no invitation.

    Exit code: 0 after Ctrl-C, 1 it does not start, 2 wrong use.

    Example: takt scheduler --address 192.168.1.5
    """
    if context.invoked_subcommand:
        return
    import os

    from takt.cli.options import refuse_root
    from takt.cli.output import stdout
    from takt.network import scheduler as ours

    refuse_root(allow_root)
    os.environ.update(ours.NO_PAGES)
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "warning")

    def announce(at: str) -> None:
        lines = (
            f"scheduler: {at}",
            f"to start a worker: ./takt worker {at} ROLE",
            "Ctrl-C stops the scheduler",
        )
        for line in lines:
            stdout().print(line, markup=False, soft_wrap=True)

    ours.serve(address, port, announce)
