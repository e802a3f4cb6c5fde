# SPDX-License-Identifier: Apache-2.0
"""Becomes a program that cannot outlive the process that asked for it; standard library only.

Usage: guard.py PARENT become|watch PROGRAM ARGUMENT…

The parent's death is asked for first and looked for afterwards, so there is no moment in which it
goes unseen. ``become`` turns into the program, which keeps what was asked for. ``watch`` stays its
parent, and takes the whole process group along: for programs that start others.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

MARK = "TAKT_STARTED_BY"  # in the environment of the program and of all that it starts
GROUP = "TAKT_CONTROL_GROUP"  # to enter first; the program does not see it
_PR_SET_PDEATHSIG = 1
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126  # as a shell says it


def identity(pid: int) -> str:
    """A process, told from a later one with its number; empty where there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    state, *others = fields.rpartition(")")[2].split()
    return "" if state in "ZX" else f"{pid}:{others[18]}"  # the start, in ticks since boot


def marked() -> Iterator[tuple[int, str]]:
    """This user's processes that bear a mark, and the identity in it."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):  # gone, or another user's
            # A program with another user's rights has the environment of who called it.
            status = (entry / "status").read_text(encoding="utf-8", errors="replace")
            users = {int(one) for one in status.partition("\nUid:")[2].splitlines()[0].split()}
            words = (entry / "environ").read_bytes().split(b"\0")
            mark = next((one for one in words if one.startswith(f"{MARK}=".encode())), b"")
            starter = mark.decode(errors="replace").partition("=")[2]
            pid = int(entry.name)
            named = re.fullmatch("[0-9]{1,10}:[0-9]+", starter)
            if named and users == {os.getuid()} and identity(pid):
                yield pid, starter


@contextlib.contextmanager
def marking() -> Iterator[None]:
    """What this process starts meanwhile, not by ``Process``, bears its mark: a library's workers.

    They are ended by who watches over a scratch folder of this process.
    """
    before = os.environ.get(MARK)
    os.environ[MARK] = identity(os.getpid())
    try:
        yield
    finally:
        os.environ.pop(MARK)
        if before is not None:
            os.environ[MARK] = before


def end_with(parent: int, number: signal.Signals) -> bool:
    """Asks for a signal at the parent's death; False where it came before."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)
    return os.getppid() == parent


def main(parent: int, how: str, command: list[str]) -> int:
    """Runs the command, or does not begin where the parent is gone."""
    if how == "watch":
        signal.signal(signal.SIGTERM, _end_the_group)
    ask = signal.SIGTERM if how == "watch" else signal.SIGKILL
    there = end_with(parent, ask)
    os.environ[MARK] = identity(parent)
    if not there or not _enter(os.environ.pop(GROUP, "")):
        return 1
    if how == "watch":
        return _watched(command)
    return _become(command)


def _enter(group: str) -> bool:
    """The control group, where one is named: the CPUs of it may be no others."""
    if group:
        try:
            Path(group, "cgroup.procs").write_text("0", encoding="ascii")
        except OSError as error:
            sys.stderr.write(f"cannot enter the control group {group}: {error.strerror}\n")
            return False
    return True


def _become(command: list[str]) -> int:
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and programs inherit
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.stderr.write(f"cannot start {command[0]}: {error.strerror}\n")
        return _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_EXECUTABLE


def _watched(command: list[str]) -> int:
    guard = os.getpid()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if not end_with(guard, signal.SIGKILL):  # somebody may kill the guard alone
            os._exit(1)
        os._exit(_become(command))
    status = os.waitpid(child, 0)[1]
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _end_the_group(_number: int, _frame: FrameType | None) -> None:
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))
