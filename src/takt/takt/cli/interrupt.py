# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, before a command begins, while it runs and after its end: no traceback, exit code 130.

Before and after, the process just ends: there is nothing to tidy up, and an exception in the middle
of an import may come out as another one. A command gets KeyboardInterrupt, and says what it keeps.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from types import FrameType

CODE = 130  # as shells say it of SIGINT


def ends_at_once() -> None:
    """An interrupt ends the process from here on; also one that came while Python started."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as a shell starts what it leaves
        signal.signal(signal.SIGINT, _end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # the launcher blocked it


def is_raised() -> None:
    """An interrupt is a KeyboardInterrupt from here on."""
    if signal.getsignal(signal.SIGINT) is _end:
        sys.unraisablehook = _raise_again
        signal.signal(signal.SIGINT, signal.default_int_handler)


def caused(error: BaseException | None) -> bool:
    """Whether an interrupt is behind an error: Python and libraries make others of it."""
    while error is not None:
        # pydantic's core makes one that has only the name of what it found.
        if isinstance(error, KeyboardInterrupt) or KeyboardInterrupt.__name__ in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _end(_number: int, _frame: FrameType | None) -> None:
    os._exit(CODE)


def _raise_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Where Python could not raise it, in a destructor or a callback, it comes once more."""
    if unraisable.exc_type is not None and issubclass(unraisable.exc_type, KeyboardInterrupt):
        _thread.start_new_thread(_interrupt, ())
    else:
        sys.__unraisablehook__(unraisable)


def _interrupt() -> None:
    time.sleep(0.001)  # at once it would come in the middle of the same, and be lost again
    # As a signal: what sleeps or waits ends only by one.
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
