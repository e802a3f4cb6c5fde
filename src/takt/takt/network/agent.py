# SPDX-License-Identifier: Apache-2.0
"""What runs inside a Dask worker, so that a role of a cell is on the worker's machine.

``hold`` is a task that takes the role's resource for as long as a cell lasts. Its thread starts and
ends the programs there by the same classes as here; ``ask`` brings it the tool's wishes. Who does
not hear of the tool for LEASE_S ends everything: recordings stay then, on that machine, until the
run is resumed. The worker's death ends its programs (guard.py), and an undertaker sweeps.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import queue
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import takt
from takt.documents import own
from takt.errors import Failure
from takt.network import clocks, domain, same_host, second_path, stacks, transport
from takt.network.second_path import NoIpv6
from takt.processes import others, recording, scratch, usage
from takt.processes.leftovers import Journal, present, sweep_since
from takt.processes.others import Others
from takt.processes.process import TERM_S, Process

LEASE_S = 10.0  # without a word of the tool
TURN_S = 0.1
PART_BYTES = 4 << 20  # of a file, in one answer
_KEPT = (recording.SUFFIX,)
SURROUNDING = ("stress-ng", "iperf3")  # that conditions of a cell may need
_SESSIONS: dict[str, Session] = {}


def identity() -> str:
    """The version of this Takt: its number, and a digest of its Python."""
    digest = hashlib.sha256()
    root = Path(takt.__file__).parent
    for file in sorted(root.rglob("*.py")):
        digest.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes())
    return f"{takt.__version__} ({digest.hexdigest()[:12]})"


def about(names: list[str], address: str) -> dict[str, Any]:
    """This machine as a host at an address, and what the stacks of these names can do here."""
    import psutil

    found = stacks.find()
    there = {name: found[name].capabilities for name in names if name in found}
    return {
        "identity": identity(),
        "name": socket.gethostname(),
        "host": same_host.identity(),
        "clock": asdict(clocks.read()),
        "domains": sorted(domain.used_domains()),
        "stacks": {name: [one.model_dump() for one in can] for name, can in there.items()},
        "programs": [name for name in SURROUNDING if shutil.which(name)],
        "cpus": sorted(os.sched_getaffinity(0)),
        "without_traffic": _without_traffic(address),
        "memory_bytes": int(psutil.virtual_memory().available),
    }


def _without_traffic(address: str) -> str:
    """Why there can be no traffic beside messages to this address; empty: there can."""
    try:
        second_path.end_of(address)
    except NoIpv6 as error:
        return error.what
    return ""


def cache() -> Path:
    """Where a worker keeps what is on its machine."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "takt"


def begun(key: str) -> str | None:
    """The folder of a session; None before it has one."""
    session = _SESSIONS.get(key)
    return str(session.place.folder) if session else None


async def ask(key: str, what: str, arguments: Mapping[str, Any]) -> Any:
    """Lets the thread of a session do something; raises LookupError where it has ended."""
    session = _SESSIONS.get(key)
    if session is None:
        raise LookupError(f"the session {key} has ended: no message for {LEASE_S:g} s")
    return await asyncio.wrap_future(session.post(what, dict(arguments)))


def hold(key: str, run: str, version: str) -> None:
    """Serves a session until it is closed, or until nobody asks any more."""
    if (own := identity()) != version:
        raise Failure(f"Takt versions differ: {own} there, {version} here")
    folder = cache() / "hosts" / run
    folder.mkdir(parents=True, exist_ok=True)
    session = Session(scratch.open_for(folder, lent=True))
    _SESSIONS[key] = session
    try:
        session.serve()
    finally:
        del _SESSIONS[key]
        session.leave()


@dataclass
class _Started:
    """A program of a session."""

    process: Process
    samples: Path | None
    code: int | None = None

    def look(self) -> int | None:
        if self.code is None:
            self.code = self.process.poll()
        return self.code


@dataclass
class _Wish:
    what: str
    arguments: dict[str, Any]
    answer: Future[Any] = field(default_factory=Future)


class Session:
    """The programs of one role, or several, of one cell."""

    def __init__(self, place: scratch.Scratch) -> None:
        self.place = place
        self._wishes: queue.Queue[_Wish] = queue.Queue()
        self._programs: list[_Started] = []
        self._journal = Journal(place.folder)
        self._before = present()
        self._around = contextlib.ExitStack()
        self._inner: Any = None
        self._closed = False
        self._others: Others | None = None

    def post(self, what: str, arguments: dict[str, Any]) -> Future[Any]:
        """Puts a wish into the queue."""
        wish = _Wish(what, arguments)
        self._wishes.put(wish)
        return wish.answer

    def serve(self) -> None:
        """Does what is asked, one after the other, in this thread."""
        heard = time.monotonic()
        while not self._closed and time.monotonic() - heard < LEASE_S:
            try:
                wish = self._wishes.get(timeout=TURN_S)
            except queue.Empty:
                continue
            heard = time.monotonic()
            try:
                wish.answer.set_result(getattr(self, f"do_{wish.what}")(**wish.arguments))
            except Exception as error:  # noqa: BLE001 - it is the asker's
                wish.answer.set_exception(error)

    def leave(self) -> None:
        """Ends everything; what was recorded stays only where the tool did not take it home."""
        for one in self._programs:
            one.process.signal(signal.SIGTERM)
        limit = time.monotonic() + TERM_S
        while any(one.look() is None for one in self._programs) and time.monotonic() < limit:
            time.sleep(TURN_S / 10)
        for one in self._programs:
            one.process.end(0)
        self._around.close()
        self._journal.sweep()
        sweep_since(self._before)
        scratch.remove_from(self.place.run_folder, scratch.LOADED)
        kept = bool(self._recordings())
        self.place.release(keep=kept)
        if not kept:
            shutil.rmtree(self.place.run_folder, ignore_errors=True)
        while not self._wishes.empty():  # of an asker who would wait for ever
            self._wishes.get().answer.set_exception(LookupError("the session has ended"))

    def do_start(
        self,
        command: list[str],
        files: dict[str, str],
        profiles: dict[str, str],
        ros_domain: int,
        stderr: str,
        samples: str | None,
        watched: bool,
    ) -> int:
        """Starts a program; returns its number in this session."""
        for name, text in files.items():
            self._inside(name).write_text(text, encoding="utf-8")
        with self._inside(stderr).open("wb") as words:
            process = Process(
                command,
                environment=transport.environment(
                    profiles, ros_domain, logs=self.place.folder / "log"
                ),
                stderr=words,
                watched=watched,
            )
        self._programs.append(_Started(process, self._inside(samples) if samples else None))
        return len(self._programs) - 1

    def do_status(self) -> list[tuple[int | None, int]]:
        """How each program has ended, if it has, and how much it has recorded."""
        running = [one.process.pid for one in self._programs if one.look() is None]
        recorded = [recording.progress(one.samples) if one.samples else 0 for one in self._programs]
        if running and not any(recorded):  # then everything is mapped
            self._journal.note(running)
        return [(one.code, count) for one, count in zip(self._programs, recorded, strict=True)]

    def do_signal(self, number: int, sign: int) -> None:
        """Signals a program and all that it started."""
        self._programs[number].process.signal(signal.Signals(sign))

    def do_call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """What a function of Takt's returns on this machine."""
        return function(*arguments)

    def do_enter(
        self,
        opens: Callable[..., contextlib.AbstractContextManager[Any]],
        arguments: tuple[Any, ...],
    ) -> Any:
        """Opens a context of Takt's, which gets our folder, too; returns what it gives."""
        self._inner = self._around.enter_context(opens(*arguments, self.place.folder))
        return self._inner

    def do_leave(self) -> Any:
        """Closes it before the session ends; returns what it gave, as it is now."""
        self._around.close()
        return self._inner

    def do_machine(self) -> tuple[list[int], str]:
        """The CPUs that a program of this session may use, and the interpreter of Takt."""
        return sorted(os.sched_getaffinity(0)), sys.executable

    def do_load_folder(self) -> str:
        """Where the files of a load are written; it goes with the session."""
        with own.opened(self.place.run_folder) as folder:
            folder.make(scratch.LOADED)
        return str(self.place.run_folder / scratch.LOADED)

    def do_used(self, numbers: list[int | None]) -> tuple[int, list[usage.Used], usage.Cpus]:
        """By these programs with all that they started, and by the CPUs, at a moment in ns."""
        each = [
            usage.of(usage.family([self._programs[one].process.pid]))
            if one is not None and self._programs[one].look() is None
            else usage.of([])
            for one in numbers
        ]
        return time.monotonic_ns(), each, usage.cpus(os.sched_getaffinity(0))

    def do_spent(self) -> tuple[str, int, float, float]:
        """This machine, this worker, its seconds of CPU time with all that it started, and when."""
        return clocks.identity(), os.getpid(), others.own_s(), time.monotonic()

    def do_watch(self, known: list[str], *, idle: bool, kernel: bool) -> str:
        """Watches other programs from now on, unless this machine is known; returns which it is.

        ``kernel``: the kernel's own work is that of a load here.
        """
        machine = clocks.identity()
        if machine not in known:
            work = usage.KernelWork() if kernel else None
            ours = (lambda: (work.look(), None)) if work else None
            self._others = Others(others.IDLE if idle else others.USUAL, ours)
        return machine

    def do_taken(self) -> tuple[float, bool]:
        """What other programs have taken since, in seconds, and whether that is much."""
        if self._others is None:
            raise ValueError("nothing is watched")
        taken = self._others.taken()
        return taken.seconds, taken.much

    def do_place_for(self, need: int) -> str:
        """Where a recording of so many bytes fits."""
        return str(self.place.place_for(need))

    def do_program(self, stack: str, role: str) -> list[str]:
        """The command that starts the probe of a role."""
        return stacks.find()[stack].start(role)

    def do_recordings(self) -> list[str]:
        """Those that an attempt before has left."""
        return [str(path) for path in self._recordings()]

    def do_size(self, path: str) -> int | None:
        """Of a file of this session; None: it is not there."""
        file = self._inside(path)
        return file.stat().st_size if file.exists() else None

    def do_part(self, path: str, offset: int) -> bytes:
        """Some bytes of a file of this session."""
        with self._inside(path).open("rb") as file:
            return os.pread(file.fileno(), PART_BYTES, offset)

    def do_remove(self, path: str) -> None:
        """Removes a file of this session, which the tool has."""
        self._inside(path).unlink(missing_ok=True)

    def do_clock(self) -> clocks.Clock:
        """The clock of this machine."""
        return clocks.read()

    def do_free_port(self, address: str) -> int:
        """A UDP port that nobody uses at this address."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind((address, 0))
            return int(free.getsockname()[1])

    def do_close(self) -> None:
        """The tool has everything that it wants."""
        for path in self._recordings():
            path.unlink()
        self._closed = True

    def _inside(self, path: str) -> Path:
        """A file in a folder of this session, wherever its name seems to lead; raises ValueError.

        Who asks may start any program here anyway (docs/explanation/trust.md): this holds mistakes
        of another version, and what a folder has been made to lead to, off this user's files.
        """
        real = Path(path).parent.resolve() / Path(path).name
        mine = [one.resolve() for one in (self.place.folder, self.place.run_folder)]
        if not any(one in real.parents for one in mine) or ".." in real.parts or real.is_symlink():
            raise ValueError(f"{path} is not in a folder of this session")
        return real

    def _recordings(self) -> list[Path]:
        spare = self.place.run_folder / scratch.ON_DISK
        return scratch.recordings(self.place.folder) + scratch.recordings(spare)
