# SPDX-License-Identifier: Apache-2.0
"""The measurements at a scale, of the stacks of this machine."""

from __future__ import annotations

from collections.abc import Iterator

import psutil

from takt.machine.preemption import preemption_model
from takt.machine.system import System
from takt.measure.experiment.model import Experiment, Measurement
from takt.network import namespace, stacks
from takt.network.stacks import Capability, Stack, Stacks
from takt.reproduce.experiment import measuring
from takt.reproduce.ye2023.quantities import REALTIME, WAKEUP

# Samples of a run, however small the scale; of messages one more, which is the first.
LEAST = {"pubsub": 5, "timer-cyclic": 60, "wakeup": 500, "ethercat": 500}
WAKING = ("cyclictest", "raw")  # programs of wake-ups; the first that is installed
# Cyclictest's runs with PREEMPT_RT are 25.7 hours together, as the paper's one is; 242 s each else.
RT_HOURS, NATIVE_S = 25.7, 242


def fitted(experiment: Experiment, scale: float) -> Experiment:
    """What is run here of the experiment as the paper has it."""
    room = namespace.lacking() is None
    memory = int(psutil.virtual_memory().available)
    if preemption_model(System())[0] == REALTIME:
        experiment = a_day(experiment)
    return placed(scaled(experiment, scale), stacks.find(), room=room, memory=memory)


def a_day(experiment: Experiment) -> Experiment:
    """With cyclictest's wake-ups for as long as the paper has them with PREEMPT_RT."""
    longer = RT_HOURS * 3600 / NATIVE_S / experiment.repetitions
    return measuring(
        experiment,
        (
            one.model_copy(update={"samples": round((one.samples or 0) * longer)})
            if one.label == WAKEUP and one.stack == ["cyclictest"]
            else one
            for one in experiment.measurements
        ),
    )


def scaled(experiment: Experiment, scale: float) -> Experiment:
    """Shorter runs; how far several of them differ is what decides, so their number stays."""
    return measuring(
        experiment,
        (
            one.model_copy(update={"samples": _samples(one, scale)})
            for one in experiment.measurements
        ),
    )


def placed(
    experiment: Experiment, there: Stacks, *, room: bool = True, memory: int | None = None
) -> Experiment:
    """Without what a stack that is installed cannot do; wake-ups of one program only.

    ``room`` where simulated slaves can have a network of their own; ``memory`` in bytes, of which a
    publisher that keeps all its messages may take half.
    """
    waking = next((one for one in WAKING if one in there), WAKING[-1])
    return measuring(
        experiment,
        (
            fit
            for one in experiment.measurements
            if (room or one.kind != "ethercat") and (one.label != WAKEUP or waking in one.stack)
            for fit in _fit(_kept(one, memory), there)
        ),
    )


def _kept(block: Measurement, memory: int | None) -> Measurement:
    """Without sizes for which there is no room where every message is kept."""
    all_kept = block.history == ["keep_all"] and block.durability == ["transient_local"]
    if not (all_kept and block.payload and block.samples and memory is not None):
        return block
    samples = block.samples
    sizes = [one for one in block.payload if one * samples <= memory // 2]
    return block.model_copy(update={"payload": sizes or block.payload[:1]})


def _fit(block: Measurement, there: Stacks) -> Iterator[Measurement]:
    """A block of each of its stacks, of the sizes that it carries."""
    names = block.stack
    for name in names:
        sizes, transports = block.payload, block.transport
        if name in there:
            ways = _ways(block, there[name])
            if not ways:
                continue
            most = ways[0].max_payload_bytes
            if sizes and most is not None:
                sizes = [one for one in sizes if one <= most]
                if not sizes:
                    continue
            if transports:
                transports = [one.transport for one in ways]
        update = {"stack": [name], "payload": sizes, "transport": transports}
        yield block.model_copy(update=update)


def _ways(block: Measurement, stack: Stack) -> list[Capability]:
    """The ways that are asked for, or else the first one, if they can what is asked.

    A stack may be built without some: loans take messages that a build for measuring leaves out.
    """
    wanted = block.transport or stack.transports(block.kind)[:1]
    found = [stack.capability(block.kind, one) for one in wanted]
    return [
        one
        for one in found
        if one
        and set(block.content or []) <= set(one.contents)
        and set(block.durability or []) <= set(one.durabilities)
        and set(block.history or []) <= set(one.histories)
    ]


def _samples(block: Measurement, scale: float) -> int:
    if block.samples is None:
        raise ValueError("a paper's measurements have samples, not durations")
    return max(min(LEAST[block.kind], block.samples), round(block.samples * scale))
