# SPDX-License-Identifier: Apache-2.0
"""``takt scheduler join``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def join(
    invitation: Annotated[
        Path,
        typer.Argument(metavar="NAME.pem", help="Invitation, written by takt scheduler invite."),
    ],
) -> None:
    """Join the machines of another authority, as a worker or to measure from here.

    Every machine with a certificate of that authority can then run code on this machine while a
    worker runs here. Moves the file to the key folder (~/.config/takt/workers).

    Exit code: 0 joined, 2 wrong use.

    Example: takt scheduler join robot.pem
    """
    from takt.cli.output import stdout
    from takt.network import certificates

    kept = certificates.join(invitation)
    invitation.unlink()
    lines = (f"joined: {kept}", "next: ./takt worker tls://HOST:8786 ROLE")
    for line in lines:
        stdout().print(line, markup=False, soft_wrap=True)
