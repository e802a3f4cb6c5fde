# SPDX-License-Identifier: Apache-2.0
"""Steps of the set-up: other programs, several at a time; how far they are, and why one failed.

All are started by the one thread that there is, for Linux takes the end of a thread for that of the
parent. So steps are generators, and each goes on where it is asked to.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

from setup.reasons import reasons

from takt.processes.process import TERM_S, Process, how_ended

AGAIN = "\r\x1b[K"  # the same line of the terminal once more
WHOLE_S = 300.0  # for a package manager to come to an end that it can go on from
TICK_S = 0.25  # between two looks at a step
SHOWN_S = 1.0  # how often a terminal shows how far it is
REPORTED_S = 30.0  # how often a log of the set-up says that, as CI keeps it
HELD: list[int] = []  # the lock, which every step inherits: who is still at work holds it
DOING: dict[str, str] = {}  # what a terminal shows of the steps in work, by their titles

Steps = Generator[None, None, None]


class SetupError(Exception):
    """What stopped the set-up and what to do about it."""


def together(*several: Steps) -> None:
    """Runs them at the same time; where one fails, or at an interrupt, all of them are ended."""
    left = list(several)
    try:
        while left:
            left = [steps for steps in left if goes_on(steps)]
    finally:
        for steps in several:
            steps.close()
        DOING.clear()


def goes_on(steps: Steps) -> bool:
    """Lets them go on for a moment; whether there is more of them."""
    try:
        next(steps)
    except StopIteration:
        return False
    return True


def step(
    command: list[str],
    title: str,
    log: Path,
    environment: dict[str, str] | None = None,
    *,
    whole: bool = False,
    progress: Callable[[str, float], str] | None = None,
) -> Steps:
    """Runs a program with its output in the log; shows what it is, how far, and why it failed.

    ``progress`` makes a few words of the output so far and the seconds. Steps that run at the same
    time have a log each.

    It ends with us, and all that it started; but for a ``whole`` one, which must not be cut short.
    """
    started = time.monotonic()
    terminal = sys.stderr.isatty()
    every_s = SHOWN_S if terminal else REPORTED_S
    printed_s = 0.0
    with log.open("a", encoding="utf-8") as file:
        file.write(f"\n$ {' '.join(command)}\n")
        file.flush()
        begin = file.tell()
        process = Process(
            command,
            environment=environment,
            stdout=file,
            stderr=file,
            watched=not whole,
            outlives=whole,
            keep=HELD,
        )
        try:
            while (code := process.wait(TICK_S)) is None:
                elapsed_s = time.monotonic() - started
                if elapsed_s - printed_s >= every_s:
                    printed_s = elapsed_s
                    how_far = progress(printed_since(begin, log), elapsed_s) if progress else ""
                    in_words = f" ({how_far})" if how_far else ""
                    DOING[title] = f"{title} … {elapsed_s:.0f} s{in_words}"
                    say(*((line_of_all(), "") if terminal else (f"  {DOING[title]}",)))
                yield
        except BaseException:
            process.end(WHOLE_S if whole else TERM_S)
            raise
    DOING.pop(title, None)
    say(f"{AGAIN if terminal else ''}  {title}: {time.monotonic() - started:.0f} s")
    if code:
        why = reasons(printed_since(begin, log))
        raise SetupError(
            f"this step failed ({how_ended(code)}): {title}\n{why}\nThe whole log: {log}"
        )


def line_of_all() -> str:
    """What is in work, in one line of the terminal; a longer one would not be overwritten."""
    width = shutil.get_terminal_size().columns - 1
    return AGAIN + f"  {'; '.join(DOING.values())}"[:width]


def printed_since(begin: int, log: Path) -> str:
    """What a log has from there on."""
    return log.read_bytes()[begin:].decode(errors="replace")


def say(text: str, end: str = "\n") -> None:
    """To the terminal, at once."""
    print(text, end=end, file=sys.stderr, flush=True)
