# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, SIGTERM and a closed terminal ask what runs to stop; twice means at once."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from takt.processes.supervision import Stop


@contextlib.contextmanager
def stopping(stop: Stop, notify: Callable[[], None] = lambda: None) -> Iterator[None]:
    """While it is open, signals count as requests to stop; ``notify`` is called with each."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def request(_number: int, _frame: FrameType | None) -> None:
        stop.request()
        notify()

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # not under nohup
        numbers.append(signal.SIGHUP)
    before = [signal.signal(number, request) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
