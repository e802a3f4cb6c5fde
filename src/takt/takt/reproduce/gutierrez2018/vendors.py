# SPDX-License-Identifier: Apache-2.0
"""The middlewares: which of this machine's stands beside which of the paper's.

All of the paper's are below ROS 2. So is Cyclone DDS where this ROS 2 has it; else it is without,
as RustDDS always is. Another one is another entry here and in the stacks of ``experiment.yaml``;
its probe has to say that it goes from host to host (the ``wire`` of its capabilities).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from takt.network import stacks
from takt.network.stacks import Stacks

TRANSPORT = "udp"


@dataclass(frozen=True)
class Vendor:
    """A middleware of this machine, and the paper's that has no name there."""

    name: str
    stack: str
    paper: str


VENDORS = (
    Vendor("Fast DDS", "rcl", "DDS 1"),
    Vendor("Cyclone DDS", "cyclonedds", "DDS 2"),
    Vendor("RustDDS", "rustdds", "DDS 3"),
)
# In the place of a bare one.
BELOW_ROS2 = {"cyclonedds": Vendor("Cyclone DDS", "rcl_cyclonedds", "DDS 2")}


def known(there: Collection[str]) -> list[Vendor]:
    """The vendors of a run with these stacks, or of an installation."""
    below = {bare: one for bare, one in BELOW_ROS2.items() if one.stack in there}
    return [below.get(one.stack, one) for one in VENDORS]


def goes_over_a_link(stack: str, installed: Stacks) -> bool:
    """Whether its probe may be on two hosts; of one that is not there nothing speaks against it."""
    if stack not in installed:
        return True
    capability = installed[stack].capability("pingpong", TRANSPORT)
    return capability is not None and capability.wire is not None


def why_not(vendor: Vendor) -> str:
    """Why there is nothing of a vendor in a run."""
    installed = stacks.find()
    if vendor.stack not in installed:
        return "not measured: not installed"
    if not goes_over_a_link(vendor.stack, installed):
        return "not measured: its probe does not support two hosts"
    return "not measured: no samples came"
