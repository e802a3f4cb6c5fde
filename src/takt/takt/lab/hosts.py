# SPDX-License-Identifier: Apache-2.0
"""Tests of Gutiérrez et al. 2018 between two guests: what is measured, as ordinary cells.

By default raw UDP takes the place of a middleware: what delays it is the kernel alone, and its
program needs nothing of the host while it is measured. With ROS 2 its DDS speaks by UDP.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from takt.lab import cells
from takt.lab.cable import End
from takt.lab.cells import Planned
from takt.lab.second_host import Guest
from takt.measure.experiment import file
from takt.measure.experiment.faults import Machine
from takt.measure.experiment.model import Experiment
from takt.measure.experiment.plan import plan
from takt.network import stacks
from takt.network.hosts import Hosts

NAME = "lab-hosts"
CONTROLLER, COMPONENT = "controller", "component"  # the paper's PC and its embedded device
HOSTS = CONTROLLER, COMPONENT
QUIET, TRAFFIC, TUNED = "1.D", "2.F", "4.A"  # the paper's names of its tests
# Test 2.F where threads of normal priority deliver every packet: what section II says of ksoftirqd,
# to which a kernel of today seldom leaves one.
NORMAL = "2.F-normal"
# Half a tick of these kernels: a packet whose thread waits for one process of the load is late. The
# paper's 10 ms are several of these waits.
DEADLINE_MS = {"raw": 2, "rcl": 10}  # of ROS 2 the paper's: the emulated processor is slow
TESTS: dict[str, dict[str, Any]] = {
    QUIET: {},
    TRAFFIC: {"traffic": "{}Mbps"},
    NORMAL: {"traffic": "{}Mbps"},
    TUNED: {"traffic": "{}Mbps", "tuned": "ksoftirqd+irq-threads"},
}


def experiment(
    samples: int, mbps: int, rounds: int, stack: str = "raw", transport: str = "udp"
) -> tuple[Experiment, list[Any]]:
    """The tests as the paper has them, with so many round trips and so much traffic each way."""
    document: dict[str, Any] = {
        "name": NAME,
        "repetitions": rounds,
        "deadline": f"{DEADLINE_MS[stack]}ms",
        "lost_after": "500ms",
        "measurements": [
            {
                "label": label,
                "kind": "pingpong",
                "stack": stack,
                "transport": transport,
                "payload": "500B",
                "period": "10ms",
                "late": "next_cycle",
                "scheduling": "fifo 80",
                "host": f"{CONTROLLER},{COMPONENT}",
                "load": "stress,stress 2",
                "samples": samples,
            }
            | {key: value.format(mbps) for key, value in more.items()}
            for label, more in TESTS.items()
        ],
    }
    source = file.Source()
    checked = file.check(document, source)
    guest = Machine(frozenset({0}), 1 << 30)
    return checked, plan(checked, source, stacks.find(), guest, seed=1).cells


def planned(
    each: list[Any], ends: tuple[End, End], folder: Path
) -> tuple[list[Planned], dict[str, str]]:
    """The cells with the programs of both hosts, pong first, and the profiles that these need.

    ``folder`` is a scratch folder.
    """
    active, passive = (Guest(one.address) for one in ends)
    return cells.planned(each, stacks.find(), folder, hosts=Hosts(active, passive))


def environment(one: Planned, end: End) -> tuple[tuple[str, str], ...]:
    """What a program on ROS 2 sees in the guest at this end; nothing for raw UDP."""
    if not one.job.from_host:
        return ()
    return cells.environment(Path("/lab") / f"{one.cell.id}.{end.address}.xml")
