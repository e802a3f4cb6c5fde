# SPDX-License-Identifier: Apache-2.0
"""A program is ended as Ctrl-C ends it, and what does not listen is ended all the same."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from takt.processes import foreground
from takt.processes.guard import identity
from takt.processes.interruption import Interruption, Patience

LONG = Patience(interrupt_s=3600.0, terminate_s=3600.0)
BEGIN = """
import os, pathlib, signal, subprocess, sys, time
here = pathlib.Path(sys.argv[1])
def note(name, text=""):
    (here / f"{name}.part").write_text(text)
    (here / f"{name}.part").rename(here / name)
def wait():
    note("pid", str(os.getpid()))
    while True:
        time.sleep(0.01)
"""
HANDLES = """
def handler(number, frame):
    time.sleep(0.2)
    note("tidied")
    sys.exit(3)
signal.signal(signal.SIGINT, handler)
wait()
"""
IGNORES = "signal.signal(signal.SIGINT, signal.SIG_IGN)\nwait()\n"
IGNORES_BOTH = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + IGNORES
# Starts a program, and dies of the first signal without a word to it.
LEAVES = """
options = {"start_new_session": True} if sys.argv[2:] == ["apart"] else {}
subprocess.Popen([sys.executable, "-c", os.environ["CHILD"], str(here)], **options)
signal.signal(signal.SIGINT, signal.SIG_DFL)
while True:
    time.sleep(0.01)
"""


def interrupted(
    folder: Path, program: str, patience: Patience, *words: str, child: str = ""
) -> tuple[int, Interruption]:
    """Its exit code, once it has noted its number and been interrupted."""
    found: list[Interruption] = []

    def look(pid: int) -> None:
        if found:
            found[0].look()
        elif (folder / "pid").exists():
            found.append(Interruption(pid, patience))

    command = [sys.executable, "-c", BEGIN + program, str(folder), *words]
    code = foreground.run(command, os.environ | {"CHILD": BEGIN + child}, look, 0.01)
    found[0].finish()
    return code, found[0]


def noted(folder: Path) -> int:
    return int((folder / "pid").read_text(encoding="ascii"))


def test_a_program_tidies_up_in_its_own_time(tmp_path: Path) -> None:
    code, interruption = interrupted(tmp_path, HANDLES, LONG)
    assert (code, interruption.last) == (3, signal.SIGINT)
    assert (tmp_path / "tidied").exists()


@pytest.mark.parametrize(
    ("program", "patience", "last"),
    [
        (IGNORES, Patience(0.0, 3600.0), signal.SIGTERM),
        (IGNORES_BOTH, Patience(0.0, 0.0), signal.SIGKILL),
    ],
)
def test_a_program_that_does_not_listen_is_ended(
    tmp_path: Path, program: str, patience: Patience, last: signal.Signals
) -> None:
    code, interruption = interrupted(tmp_path, program, patience)
    assert (code, interruption.last) == (128 + last, last)


def test_what_the_program_leaves_behind_is_ended(tmp_path: Path) -> None:
    code, interruption = interrupted(tmp_path, LEAVES, Patience(0.0, 3600.0), child=IGNORES)
    assert (code, interruption.last) == (128 + signal.SIGINT, signal.SIGTERM)
    assert not identity(noted(tmp_path))


def test_a_child_is_waited_for_after_the_program(tmp_path: Path) -> None:
    _, interruption = interrupted(tmp_path, LEAVES, LONG, child=HANDLES)
    assert interruption.last is signal.SIGINT
    assert (tmp_path / "tidied").exists()


def test_a_daemon_of_its_own_group_continues(tmp_path: Path) -> None:
    code, interruption = interrupted(tmp_path, LEAVES, LONG, "apart", child=IGNORES)
    daemon = noted(tmp_path)
    assert (code, interruption.last) == (128 + signal.SIGINT, signal.SIGINT)
    assert identity(daemon)
    os.kill(daemon, signal.SIGKILL)
    while identity(daemon):
        time.sleep(0.01)


def test_a_program_that_has_ended_was_not_interrupted(tmp_path: Path) -> None:
    found: list[Interruption] = []

    def look(pid: int) -> None:
        while identity(pid):
            time.sleep(0.01)
        found.append(Interruption(pid, LONG))

    command = [sys.executable, "-c", "raise SystemExit(5)", str(tmp_path)]
    assert foreground.run(command, os.environ, look) == 5
    assert not found[0].began
    found[0].finish()
