# SPDX-License-Identifier: Apache-2.0
"""When timers of rclcpp were due, from the begins of their callbacks; times in ns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]

_ENOUGH = 10  # calls of a timer, of which one begins soon after it is due
_EVENT_LATE = 50_000  # ns


def due(begins: Times, period: int, created: int | None) -> tuple[Times, Times]:
    """When a timer that began at these times was due, and how many periods after its first time.

    A timer of rclcpp is due a period after it was made, and keeps its phase, whenever its callback
    begins. One that was made before the recording, or reset, has another phase.
    """
    if created is None:
        return on_grid(begins, period)
    late = (begins - created) % period
    if len(late) >= _ENOUGH and late.min() > period // 10:
        return on_grid(begins, period)
    # The event comes shortly after the time that the timer counts from.
    early = late[late > period - min(_EVENT_LATE, period // 20)]
    created -= int(period - early.min()) if len(early) else 0
    indices = (begins - created) // period
    return created + indices * period, indices - indices[0]


def on_grid(begins: Times, period: int) -> tuple[Times, Times]:
    """When a timer that began at these times was due, and how many periods after its first time.

    A timer of rclcpp keeps its phase, whenever its callback begins: that which began earliest
    against a grid of the period lies on it, as long as none begins half a period late.
    """
    residues = (begins - begins[0] + period // 2) % period - period // 2
    phase = begins[0] + residues.min()
    indices = (begins - phase) // period
    return phase + indices * period, indices - indices[0]
