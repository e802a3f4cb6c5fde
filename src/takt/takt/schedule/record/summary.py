# SPDX-License-Identifier: Apache-2.0
"""What a folder of recordings has: processes, nodes, callbacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from takt.errors import TaktError
from takt.pages import text
from takt.processes.switches import KERNEL
from takt.schedule.model.from_ros2 import observed
from takt.schedule.model.observed import ObservedCallback
from takt.schedule.record.document import (
    RecordDocument,
    RecordedCallback,
    RecordedProcess,
    RecordedThread,
)
from takt.schedule.ros2 import control, switches, threads
from takt.schedule.ros2.recordings import BLOCK_ROOM, Recording, of, recordings

_NODE = "ros2:rcl_node_init"
_RCLCPP = "ros2:rclcpp_"
_CALL = "ros2:callback_start"
_NONE_CALLED = (
    "no callback was called while it was recorded: record for longer, or while messages arrive and "
    "timers are due"
)
_NONE_RECORDED = (
    "no callback of rclcpp: programs with rclpy or rcl have nodes, topics and messages in their "
    "recordings, and no callbacks; takt view, trace and metrics show their messages"
)


def summary(folder: Path, command: Sequence[str], exit_code: int) -> RecordDocument:
    """Reads all recordings; raises TaktError where one is damaged."""
    found = recordings(folder)
    scheduled = threads.read(folder)
    processes = [_process(one, scheduled) for one in found]
    notes = []
    if not processes:
        notes.append(
            "nothing was recorded: no process of the command made a ROS 2 context, or none is "
            "dynamically linked to tracetools"
        )
    if dropped := sum(one.dropped for one in processes):
        notes.append(
            f"{text.count(dropped)} events are missing: the recording was full; record for a "
            "shorter time, or give more space (--size) on a disk that has it"
        )
    if any(one.ring and one.ring_end > one.blocks * BLOCK_ROOM for one in found):
        notes.append("older events were overwritten: the recordings are rings")
    if control.stretches(folder) and control.is_on(folder):
        notes.append("the recording continues")
    beside = switches.read(folder)
    if processes and not beside.known:
        notes.append(
            f"who else had the cores is not recorded: there is no file {switches.FILE!r}; the disk "
            "had no space for it, or it was removed"
        )
    if processes and (refused := beside.refused):
        fix = "; record as root, or with CAP_PERFMON and ulimit -l 1100 per core"
        of_kernel = refused.startswith(KERNEL)
        notes.append(f"who else had the cores is not recorded: {refused}{fix if of_kernel else ''}")
    if processes and beside.known and beside.interrupts_refused:
        notes.append(f"interrupts are not recorded: {beside.interrupts_refused}")
    callbacks: list[RecordedCallback] = []
    if processes:
        try:
            callbacks = [_callback(one) for one in observed(folder).callbacks if len(one.execution)]
        except TaktError:  # none: it says what would be needed for a model
            notes.append(_NONE_CALLED if _uses_rclcpp(found) else _NONE_RECORDED)
    return RecordDocument(
        folder=str(folder),
        command=list(command),
        exit_code=exit_code,
        processes=processes,
        callbacks=callbacks,
        notes=notes,
    )


def _uses_rclcpp(found: Sequence[Recording]) -> bool:
    return any(event.name.startswith(_RCLCPP) for one in found for event in of(one))


def _process(recording: Recording, scheduled: threads.Threads) -> RecordedProcess:
    nodes: dict[str, None] = {}
    count = 0
    calls: Counter[int] = Counter()  # by thread
    for event in of(recording):
        count += 1
        if event.name == _CALL:
            calls[event.thread[1]] += 1
        if event.name == _NODE:
            namespace = str(event.fields.get("namespace", "")).strip("/")
            name = str(event.fields.get("node_name", ""))
            nodes[f"/{namespace}/{name}" if namespace else f"/{name}"] = None
    return RecordedProcess(
        file=recording.file.name,
        process=recording.process,
        program=recording.program,
        nodes=list(nodes),
        events=count,
        dropped=recording.dropped,
        bytes=recording.size,
        threads=[
            RecordedThread(
                thread=thread[1],
                name=state.name,
                policy=state.scheduling.policy,
                priority=state.scheduling.priority,
                nice=state.scheduling.nice,
                cpus=sorted(state.scheduling.cpus),
                calls=calls[thread[1]],
            )
            for thread in scheduled.of(recording.process)
            if (state := scheduled.last(thread))
        ],
    )


def _callback(one: ObservedCallback) -> RecordedCallback:
    period = one.declared.get("period")
    times = one.releases
    span = int(times.max() - times.min()) if len(times) > 1 else 0
    return RecordedCallback(
        callback=one.recorded,
        period_ms=period / 1e6 if period else None,
        calls=len(one.execution),
        rate_hz=round((len(times) - 1) * 1e9 / span, 3) if span else None,
        median_us=float(np.median(one.execution)) / 1000,
        longest_us=int(one.execution.max()) / 1000,
    )
