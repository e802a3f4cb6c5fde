# SPDX-License-Identifier: Apache-2.0
"""The tests at a scale, and on the CPUs and with the middlewares of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from takt.measure.experiment.model import Experiment, Measurement
from takt.measure.experiment.plan import this_machine
from takt.network import stacks
from takt.network.namespace import HERE
from takt.network.shaping import OWN
from takt.network.stacks import Stacks
from takt.network.workers import Workers
from takt.reproduce.experiment import LEAST_RUNS, LEAST_SAMPLES, Extent, measuring, scaled
from takt.reproduce.gutierrez2018.vendors import BELOW_ROS2, TRANSPORT, goes_over_a_link
from takt.reproduce.model import Request

MANY = 1_000_000  # samples of all runs of a point: beyond that, fewer runs first
FULL_RUN = 10_000  # of an hour's samples at a small scale; with fewer rather fewer hours
SMALL = 0.01  # below, each run is as short as it can be, so that three middlewares take minutes
TLSF = "tlsf"  # memory in constant time, of the client library and of messages (III.B.1)
_LOADS = {"stress": "stress,stress 2"}  # 8 workers of each kind on the PC, 2 on the device (III.B)
DECIDING = 5  # runs of what the main findings compare; these stay at any scale


def fitted(request: Request, experiment: Experiment, scale: float) -> Experiment:
    """What is run here of the experiment as the paper has it, or between the hosts asked for."""
    names = list(request.hosts.values())
    each = [_cpus(name, request.workers) for name in names] or [_cpus(HERE, None)] * 2
    # On two CPUs also where both hosts are one machine.
    cpus = [each[0][0], each[1][min(1, len(each[1]) - 1)]]
    short = scaled(experiment, scale, extent)
    return placed(between(short, names) if names else short, cpus, stacks.find())


def between(experiment: Experiment, names: list[str]) -> Experiment:
    """The tests between two machines: the load of each, and the network that there is.

    The link's rate is the network's. A traffic class of the messages' own is left out: Takt shapes
    no interface but those that it makes.
    """
    apart = {"host": [",".join(names)], "link": None, "queue": None}
    return measuring(
        experiment,
        (
            block.model_copy(update={**apart, "load": [_LOADS.get(one, one) for one in block.load]})
            for block in experiment.measurements
            if OWN not in (block.queue or [])
        ),
    )


def _cpus(host: str, workers: Workers | None) -> list[int]:
    """Those that a probe may use there."""
    if host == HERE or workers is None:
        return sorted(this_machine().cpus)
    return list(workers.about(host, [])["cpus"])


def placed(experiment: Experiment, cpus: list[int], installed: Stacks) -> Experiment:
    """Ping and pong on these CPUs, of the stacks that can be on two hosts.

    With real-time settings a stack has the paper's allocator if it can choose one.
    """
    one_each = ",".join(map(str, cpus))
    return measuring(
        experiment,
        (
            block.model_copy(update={"cpu": [one_each], **of_stacks})
            for block in experiment.measurements
            for of_stacks in _by_allocator(block, installed)
        ),
    )


def _by_allocator(block: Measurement, installed: Stacks) -> Iterator[dict[str, Any]]:
    below = {bare: one.stack for bare, one in BELOW_ROS2.items() if one.stack in installed}
    asked = [below.get(one, one) for one in block.stack]
    stacks = [one for one in asked if goes_over_a_link(one, installed)]
    realtime = (block.scheduling or ["other"]) != ["other"]
    own = [one for one in stacks if realtime and one in installed and _chooses(one, installed)]
    if own:
        yield {"stack": own, "allocator": [TLSF]}
    if rest := [one for one in stacks if one not in own]:
        yield {"stack": rest}


def _chooses(stack: str, installed: Stacks) -> bool:
    capability = installed[stack].capability("pingpong", TRANSPORT)
    return capability is not None and TLSF in capability.allocators


def extent(samples: int, runs: int, scale: float) -> Extent:
    """Shorter runs, 200 samples at least; of the hours fewer runs, too, two at least.

    The rounds of a point stay: how far they differ is what decides. Below a hundredth of the
    paper's length runs have 200 samples, those of the hours twice as many, and what is not among
    the points of the main findings has two rounds.
    """
    total = runs * samples
    if scale < SMALL:
        short = LEAST_SAMPLES * (2 if total > MANY else 1)
        return short, runs if runs == DECIDING else LEAST_RUNS
    if total > MANY:
        runs = max(LEAST_RUNS, min(runs, int(total * scale / FULL_RUN)))
    return max(LEAST_SAMPLES, round(samples * scale)), runs
