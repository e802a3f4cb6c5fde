# SPDX-License-Identifier: Apache-2.0
"""``takt scheduler invite``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def invite(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the machine, to tell it by.")],
) -> None:
    """Write NAME.pem, by which another machine may join the workers of this one.

    It holds a private key: whoever has the file may run code on every machine that has joined. Take
    it there by a way that nobody reads, such as scp, and remove it here.

    Exit code: 0 it is written, 2 wrong use.

    Example: takt scheduler invite robot
    """
    from takt.cli.output import stdout
    from takt.network import certificates

    target = Path(f"{name}.pem")
    certificates.invite(name, target)
    for line in (
        f"{target} is the key of {name}. Take it there, and remove it here:",
        f"  scp -p {target} {name}: && rm {target}",
        f"There: ./takt scheduler join ~/{target}",
    ):
        stdout().print(line, markup=False, soft_wrap=True)
