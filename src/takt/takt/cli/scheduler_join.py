# SPDX-License-Identifier: Apache-2.0
"""``takt scheduler join``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def join(
    invitation: Annotated[
        Path, typer.Argument(metavar="NAME.pem", help="What takt scheduler invite wrote.")
    ],
) -> None:
    """Join the machines of another one's authority, as a worker or to measure from here.

    Whoever has a certificate of that authority may then run code on this machine while it has a
    worker. Moves the file to where keys are kept (~/.config/takt/workers).

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
