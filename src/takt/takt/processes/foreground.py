# SPDX-License-Identifier: Apache-2.0
"""A program that runs in the place of the tool: terminal, signals and exit code are its own."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType

from takt.errors import Failure

STANDARD_ERROR = 2  # the descriptor of the process, also where sys.stderr is something else
FORWARDED = (signal.SIGTERM, signal.SIGHUP)


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    look: Callable[[int], object] | None = None,
    every_s: float = 0.1,
    aside: bool = False,
) -> int:
    """Runs it to its end and returns its exit code, as a shell does: 128 + the signal it died of.

    ``look`` gets its number at its start and then at this interval. Ctrl-C is for the program.
    ``aside``: what it prints goes to standard error, because standard output is for a document.
    """
    with _left_to() as left:
        try:
            process = subprocess.Popen(
                command, env=environment, stdout=STANDARD_ERROR if aside else None
            )
        except OSError as error:
            raise Failure(f"cannot start it: {error.strerror}", where=command[0]) from None
        left.to(process)
        code = None
        while code is None:
            if look:
                look(process.pid)
            try:
                code = process.wait(every_s if look else None)
            except subprocess.TimeoutExpired:
                continue
    return 128 - code if code < 0 else code


class _Signals:
    """What arrives before the process is there is for it, too."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def forward(self, number: int, _frame: FrameType | None) -> None:
        if self._process:
            self._process.send_signal(number)
        else:
            self._early.append(number)

    def to(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        for number in self._early:
            process.send_signal(number)


@contextmanager
def _left_to() -> Iterator[_Signals]:
    """Signals are for the process: the terminal sends it Ctrl-C, others are forwarded."""
    signals = _Signals()
    before = {signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None)}
    before |= {one: signal.signal(one, signals.forward) for one in FORWARDED}
    try:
        yield signals
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
