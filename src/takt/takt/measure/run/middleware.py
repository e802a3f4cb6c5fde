# SPDX-License-Identifier: Apache-2.0
"""The versions below the stacks of a run, of several middlewares of ROS 2, too.

That a probe runs on what its stack names is rcl's own check: it ends the process otherwise.
"""

from __future__ import annotations

from takt.measure.results.model import Cell
from takt.network.stacks import Stack, of_role, parts

RMW = "rmw"  # among the versions of a probe


def versions(cell: Cell, stack: Stack) -> dict[str, str]:
    """Those of the probes; an implementation of RMW that was chosen has the name of its stack."""
    found: dict[str, str] = {}
    for probe in cell.probes:
        name = of_role(parts(stack.name), probe.role)
        own = f"{RMW} of {name}" if stack.implementation(probe.role) else RMW
        found |= {own if one == RMW else one: text for one, text in probe.versions.items()}
    return found
