# SPDX-License-Identifier: Apache-2.0
"""Which executor of rclcpp ran the callbacks of a recording.

Those with a wait set announce what they execute; of the others a recording shows no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from takt.schedule.ros2.called import Entity, Handle
from takt.schedule.ros2.reading import Reading

Shown = Literal["rclcpp_single_threaded", "rclcpp_events"]


def threads_of(entities: Sequence[Entity]) -> set[Handle]:
    """In which their calls ran."""
    return {call.thread for one in entities for call in one.jobs}


def executor_of(entities: Sequence[Entity], reading: Reading) -> Shown:
    """Of the callbacks of one process that were called; rclcpp_events stands for no wait set."""
    threads = threads_of(entities)
    said = ("timer", "subscription")  # by an executor that has a wait set
    calls = sum(len(one.jobs) for one in entities if one.kind in said)
    executed = sum(reading.executed[thread] for thread in threads)
    waits = any(reading.waited[thread] for thread in threads)
    by_wait_set = 2 * executed >= calls if calls else waits
    return "rclcpp_single_threaded" if by_wait_set else "rclcpp_events"
