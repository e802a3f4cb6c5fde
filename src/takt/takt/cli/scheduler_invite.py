# SPDX-License-Identifier: Apache-2.0
"""``takt scheduler invite``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def invite(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the invited machine.")],
) -> None:
    """Write NAME.pem, an invitation for another machine to join the workers of this one.

    It holds a private key: every user of this file can run code on every machine that has joined.
    Copy it over a confidential channel, such as scp, and delete it here afterwards.

    Exit code: 0 it is written, 2 wrong use.

    Example: takt scheduler invite robot
    """
    from takt.cli.output import stdout
    from takt.network import certificates

    target = Path(f"{name}.pem")
    certificates.invite(name, target)
    for line in (
        f"{target} is the key of {name}. Copy it to {name}, then delete it here:",
        f"  scp -p {target} {name}: && rm {target}",
        f"On {name}: ./takt scheduler join ~/{target}",
    ):
        stdout().print(line, markup=False, soft_wrap=True)
