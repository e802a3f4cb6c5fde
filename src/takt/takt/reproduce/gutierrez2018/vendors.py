# SPDX-License-Identifier: Apache-2.0
"""The middlewares: which of this machine's stands beside which of the paper's.

Another one is another entry here and in the stacks of ``experiments/gutierrez2018.yaml``; its probe
has to be known to go from host to host (``faults.OVER_A_LINK``).
"""

from __future__ import annotations

from dataclasses import dataclass

from takt.measure.experiment.faults import OVER_A_LINK
from takt.processes import stacks

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


def goes_over_a_link(stack: str) -> bool:
    """Whether its probe may be on two hosts."""
    return (stack, TRANSPORT) in OVER_A_LINK


def why_not(vendor: Vendor) -> str:
    """Why there is nothing of a vendor in a run."""
    if vendor.stack not in stacks.find():
        return "not measured: not installed"
    if not goes_over_a_link(vendor.stack):
        return "not measured: its probe does not go from host to host"
    return "not measured: no samples came"
