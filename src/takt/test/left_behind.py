# SPDX-License-Identifier: Apache-2.0
"""Fails a session of tests whose processes have left something in the shared memory.

While it lasts we look at what comes there: files of a middleware that a process of this session
uses, and scratch folders that one has made, are ours. Those that are there at the end, and nobody
has any more, were left behind. What other sessions do on this machine is never counted, nor are
ports of Fast DDS, which all processes share that take the same number: who is killed leaves a
segment of its own as well.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import threading
import time
from pathlib import Path

import pytest

from takt.processes import guard, leftovers, scratch, usage

LOOK_S = 0.5  # who is killed sooner after it came has left nothing that we would know
SETTLED_S = 3.0  # where nobody sweeps, or has just been told to
PATIENCE_S = 90.0  # for those who sweep after a killed run
SCRATCH = f"takt-{os.getuid()}-"


class LeftBehind:
    """The plugin; in the process that the session's others descend from."""

    def __init__(self) -> None:
        self._folders: set[str] = set()
        self._ended = threading.Event()
        self._watching = threading.Thread(target=self._watch, daemon=True)
        self._left: list[str] = []

    def pytest_sessionstart(self) -> None:
        self._place = tempfile.TemporaryDirectory(prefix="takt-tests-")
        self._journal = leftovers.Journal(Path(self._place.name))
        self._seen = _there()
        self._watching.start()

    @pytest.hookimpl(trylast=True)  # after the workers, and what they had for all of their tests
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._ended.set()
        self._watching.join()
        began = time.monotonic()
        while self._leftovers(remove=False):
            waited = time.monotonic() - began
            if waited > PATIENCE_S or (waited > SETTLED_S and not _sweeping()):
                break
            time.sleep(LOOK_S)
        self._left = self._leftovers(remove=True)
        if self._left:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        self._place.cleanup()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._left:
            terminalreporter.section(f"left behind in {scratch.MEMORY}", red=True, bold=True)
            for name in self._left:
                terminalreporter.line(name)

    def _watch(self) -> None:
        while not self._ended.wait(LOOK_S):
            there = _there()
            if new := there - self._seen:
                self._journal.note([os.getpid()])
                if owners := {name: _owner(name) for name in new if name.startswith(SCRATCH)}:
                    family = usage.family([os.getpid()])
                    self._folders |= {name for name, owner in owners.items() if owner in family}
                    there -= {name for name, owner in owners.items() if owner is None}
            self._seen = there

    def _leftovers(self, *, remove: bool) -> list[str]:
        unused = leftovers.unused(Path(self._place.name), scratch.MEMORY, remove=remove)
        found = [name for name in unused if "_port" not in name]
        for dead in scratch.dead_folders():
            if dead.folder.name in self._folders:
                found.append(f"{dead.folder.name}: of {dead.run_folder}")
                if remove:
                    dead.remove()
        return sorted(found)


def _there() -> set[str]:
    return {path.name for path in scratch.MEMORY.iterdir()}


def _owner(name: str) -> int | None:
    """The process that a scratch folder belongs to; None before that is told."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        owner = (scratch.MEMORY / name / scratch.OWNER).read_text(encoding="utf-8")
        return int(json.loads(owner)["pid"])
    return None


def _sweeping() -> bool:
    """Whether somebody sweeps after a killed run right now, of whatever session."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if any(word.endswith("undertaker.py") for word in words):
                starter = words[-2]  # each word has an end
                if guard.identity(int(starter.partition(":")[0])) != starter:
                    return True
    return False
