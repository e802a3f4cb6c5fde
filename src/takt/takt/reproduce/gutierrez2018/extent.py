# SPDX-License-Identifier: Apache-2.0
"""The tests at a scale, and on the CPUs and with the middlewares of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from takt.measure.experiment.model import Experiment, Measurement
from takt.measure.experiment.plan import this_machine
from takt.network import stacks
from takt.network.stacks import Stacks
from takt.reproduce.experiment import LEAST_RUNS, LEAST_SAMPLES
from takt.reproduce.gutierrez2018.vendors import TRANSPORT, goes_over_a_link

MANY = 1_000_000  # samples of all runs of a point: beyond that, fewer runs first
FULL_RUN = 10_000  # of an hour's samples at a small scale; with fewer rather fewer hours
SMALL = 0.01  # below, each run is as short as it can be, so that three middlewares take minutes
TLSF = "tlsf"  # memory in constant time, of the client library and of messages (III.B.1)
DECIDING = 5  # runs of what the main findings compare; these stay at any scale


def fitted(experiment: Experiment, scale: float) -> Experiment:
    """What is run here of the experiment as the paper has it."""
    cpus = sorted(this_machine().cpus)[:2]
    return placed(scaled(experiment, scale), cpus, stacks.find())


def scaled(experiment: Experiment, scale: float) -> Experiment:
    """Shorter runs, 200 samples at least; of the hours fewer runs, too, two at least.

    The rounds of a point stay: how far they differ is what decides. Below a hundredth of the
    paper's length runs have 200 samples, those of the hours twice as many, and what is not among
    the points of the main findings has two rounds.
    """
    return experiment.model_copy(
        update={
            "measurements": [
                block.model_copy(update=_extent(block, experiment, scale))
                for block in experiment.measurements
            ]
        }
    )


def placed(experiment: Experiment, cpus: list[int], installed: Stacks) -> Experiment:
    """Ping and pong on these CPUs, of the stacks that can be on two hosts.

    With real-time settings a stack has the paper's allocator if it can choose one.
    """
    one_each = ",".join(map(str, cpus))
    return experiment.model_copy(
        update={
            "measurements": [
                block.model_copy(update={"cpu": [one_each], **of_stacks})
                for block in experiment.measurements
                for of_stacks in _by_allocator(block, installed)
            ]
        }
    )


def _by_allocator(block: Measurement, installed: Stacks) -> Iterator[dict[str, Any]]:
    stacks = [one for one in block.stack if goes_over_a_link(one, installed)]
    realtime = (block.scheduling or ["other"]) != ["other"]
    own = [one for one in stacks if realtime and one in installed and _chooses(one, installed)]
    if own:
        yield {"stack": own, "allocator": [TLSF]}
    if rest := [one for one in stacks if one not in own]:
        yield {"stack": rest}


def _chooses(stack: str, installed: Stacks) -> bool:
    capability = installed[stack].capability("pingpong", TRANSPORT)
    return capability is not None and TLSF in capability.allocators


def _extent(block: Measurement, experiment: Experiment, scale: float) -> dict[str, int]:
    if block.samples is None:
        raise ValueError(f"{experiment.name}: a paper's measurements have samples, not durations")
    runs = block.repetitions or experiment.repetitions
    total = runs * block.samples
    if scale < SMALL:
        samples = LEAST_SAMPLES * (2 if total > MANY else 1)
        return {"samples": samples, "repetitions": runs if runs == DECIDING else LEAST_RUNS}
    if total > MANY:
        runs = max(LEAST_RUNS, min(runs, int(total * scale / FULL_RUN)))
    return {"samples": max(LEAST_SAMPLES, round(block.samples * scale)), "repetitions": runs}
