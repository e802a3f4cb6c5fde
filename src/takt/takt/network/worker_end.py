# SPDX-License-Identifier: Apache-2.0
"""Loaded by Dask's workers: one that is told to end ends, whatever its connections wait for.

Where its scheduler goes at the same time, what Dask cancels may wait for ever.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

GRACE_S = 10.0


def dask_setup(_worker: Any) -> None:
    """Called by Dask in the main thread, once it listens to signals itself."""
    for number in (signal.SIGINT, signal.SIGTERM):
        before = signal.getsignal(number)
        if callable(before):
            signal.signal(number, _ends_after(before))


def _ends_after(
    handler: Callable[[int, FrameType | None], Any],
) -> Callable[[int, FrameType | None], Any]:
    def handle(number: int, frame: FrameType | None) -> None:
        end = threading.Timer(GRACE_S, os._exit, [0])  # as it ends by itself
        end.daemon = True
        end.start()
        handler(number, frame)

    return handle
