# SPDX-License-Identifier: Apache-2.0
"""A paper's machines as hosts of a reproduction: which worker stands for which of them."""

from __future__ import annotations

from collections.abc import Sequence

from takt.errors import TaktError
from takt.network.namespace import HERE
from takt.network.workers import Workers

OPTION = "--hosts"


def parse(text: str, roles: Sequence[str], paper: str) -> dict[str, str]:
    """The machine named for each of a paper's; raises TaktError with the roles that there are."""
    if not roles:
        raise TaktError(
            f"{paper} has no experiment between hosts", where=OPTION, fix=f"omit {OPTION}"
        )
    given = [one.partition("=") for one in text.replace(" ", "").split(",")]
    found = {role: machine for role, _, machine in given if machine}
    if len(found) < len(given) or set(found) != set(roles):
        asked = ",".join(f"{role}=ADDRESS" for role in roles)
        raise TaktError(f"{text!r} does not name the hosts of {paper}", where=OPTION, fix=asked)
    return {role: found[role] for role in roles}


def resolve(machines: dict[str, str], workers: Workers) -> dict[str, str]:
    """The host of an experiment for each of a paper's machines; raises TaktError."""
    found = {
        role: HERE if machine == HERE else workers.named(machine, role)
        for role, machine in machines.items()
    }
    if len(set(found.values())) < len(found):
        raise TaktError(
            f"{' and '.join(machines)} are the same host",
            where=OPTION,
            fix="give each the address of its own worker",
        )
    return found
