# SPDX-License-Identifier: Apache-2.0
"""Hosts that are Dask workers: a worker takes the roles for which it has a resource.

An experiment names roles (``host: "controller,component"``); a worker that was started with
``--resources component=1`` is that host. One mechanism serves a desk, a lab and a cluster. What
runs on the worker's machine is started there by ``agent``; here it looks like any other program.
"""

from __future__ import annotations

import contextlib
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from takt.errors import Failure, TaktError
from takt.network import agent
from takt.network.clocks import Clock
from takt.network.scheduler import START, find
from takt.processes.process import how_ended

if TYPE_CHECKING:
    from distributed import Client, Future

BEGIN_S = 25.0  # longer than an agent waits for the word of a killed tool
GONE_S = 2.0  # of nothing but errors
SILENT_S = agent.LEASE_S  # without any answer
LOOK_S = 0.5
CONNECT_S = 60  # to one that has answered: a machine that does much else takes its time
GONE = 255  # the exit code of a program whose host is gone
SAME = "install the same version of Takt there and start its worker: ./takt worker SCHEDULER ROLE"


class Gone(Failure):
    """A host does not answer any more."""


@contextlib.contextmanager
def connected(scheduler: str) -> Iterator[Client]:
    """A client of a running scheduler; raises TaktError where there is none."""
    from distributed import Client

    found = find(scheduler, "--scheduler")
    security = found.identity.security() if found.identity else None
    try:
        client = Client(found.address, timeout=CONNECT_S, set_as_default=False, security=security)
    except (OSError, ValueError) as error:
        raise TaktError(
            f"no Dask scheduler: {error}",
            where="--scheduler",
            fix=f"start one: {START}; and on each machine: ./takt worker tls://HOST:8786 ROLE",
        ) from None
    with client:
        yield client


class Workers:
    """The workers of a scheduler, as hosts."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: dict[tuple[str, tuple[str, ...]], dict[str, Any]] = {}

    def about(self, name: str, stacks: list[str]) -> dict[str, Any]:
        """What ``agent.about`` says on this host; raises TaktError where it cannot be one."""
        address = self._worker(name)
        known = (address, tuple(stacks))
        if known not in self._known:
            self._known[known] = self._ask_about(name, address, stacks)
        return self._known[known]

    def named(self, text: str, role: str) -> str:
        """The host that this is the name or the address of; of several at an address, this role."""
        workers = self._workers()
        offered = {address: sorted(about["resources"]) for address, about in workers.items()}
        if any(text in names for names in offered.values()):
            return text
        at = [one for address, one in offered.items() if urlsplit(address).hostname == text]
        names = [name for one in at for name in one]
        if names:
            return role if role in names else names[0]
        there = ", ".join(
            f"{name} at {urlsplit(address).hostname}"
            for address, many in sorted(offered.items())
            for name in many
        )
        raise TaktError(
            f"no worker of the scheduler is at {text}, or offers it (available: {there or 'none'})",
            where="--hosts",
            fix=f"on that machine: ./takt worker {self._client.scheduler.addr} {role}",  # type: ignore[union-attr]
        )

    def call(self, name: str, function: Callable[[], Any]) -> Any:
        """What a function of Takt's returns on this host."""
        address = self._worker(name)
        return self._client.run(function, workers=[address])[address]

    def _ask_about(self, name: str, address: str, stacks: list[str]) -> dict[str, Any]:
        where = f"host {name}, worker {address}"
        try:
            answers = self._client.run(
                agent.about, stacks, urlsplit(address).hostname or "", workers=[address]
            )
            found: dict[str, Any] = answers[address]
        except Exception as error:  # noqa: BLE001 - whatever happens there, or on the way
            if "ModuleNotFoundError" in repr(error) or "AttributeError" in repr(error):
                text, fix = f"it has no compatible Takt: {error}", SAME
            else:
                text, fix = f"it does not answer: {error!r}", "see the output of its worker"
            raise TaktError(text, where=where, fix=fix) from None
        if found["identity"] != (own := agent.identity()):
            text = f"it has another version of Takt: {found['identity']} there, {own} here"
            raise TaktError(text, where=where, fix=SAME)
        return found

    @contextlib.contextmanager
    def session(self, name: str, run: str) -> Iterator[Remote]:
        """Holds a host for a cell of a run; raises Failure where it cannot be had.

        What a killed attempt of the same run has left there is still there.
        """
        address = self._worker(name)
        key = f"takt-{run}-{name}-{secrets.token_hex(4)}"
        future = self._client.submit(
            agent.hold,
            key,
            f"{run}-{name}",
            agent.identity(),
            key=key,
            workers=[address],
            resources={name: 1},
            pure=False,
        )
        try:
            folder = self._await(name, address, key, future)
            remote = Remote(self._client, name, address, key, folder)
            try:
                yield remote
            finally:
                remote.leave()
        finally:
            future.cancel()  # one that waits; who runs sees that nobody asks any more

    def _await(self, name: str, address: str, key: str, future: Future[None]) -> str:
        """Until the session has begun; returns its folder."""
        limit = time.monotonic() + BEGIN_S
        where = f"host {name}, worker {address}"
        while time.monotonic() < limit:
            if future.status == "error":
                raise Failure(f"cannot use the host: {future.exception()}", where=where)
            with contextlib.suppress(Exception):  # the limit decides
                found = self._client.run(agent.begun, key, workers=[address])[address]
                if found is not None:
                    return str(found)
            time.sleep(0.02)
        raise Failure(
            f"the host {name} is not free",
            where=where,
            fix="wait until the other run on it has ended, or start its worker with more threads",
        )

    def _workers(self) -> dict[str, Any]:
        """All workers, by address, as the scheduler knows them now.

        ``Client.scheduler_info`` may return none of them: the client looks every 2 s for the
        scheduler without its workers, and overwrites what was asked for.
        """
        scheduler: Any = self._client.scheduler
        workers: dict[str, Any] = self._client.sync(scheduler.identity, n_workers=-1)["workers"]
        return workers

    def _worker(self, name: str) -> str:
        """The address of a worker with this resource, of several the one with the least to do."""
        workers = self._workers()
        able = sorted(one for one, about in workers.items() if about["resources"].get(name))
        if not able:
            there = {role for about in workers.values() for role in about["resources"]}
            raise TaktError(
                f"no worker of the scheduler offers the host {name} (available: "
                f"{', '.join(sorted(there)) or 'none'})",
                where="--scheduler",
                fix=f"on that machine: ./takt worker {self._client.scheduler.addr} {name}",  # type: ignore[union-attr]
            )
        busy = self._client.processing(able)
        least: str = min(able, key=lambda one: len(busy.get(one, ())))
        return least


class Remote:
    """A host of a cell, for as long as its session lasts."""

    def __init__(self, client: Client, name: str, worker: str, key: str, folder: str) -> None:
        self.name = name
        self.address = urlsplit(worker).hostname or ""
        self.folder = folder
        self._client, self._worker, self._key = client, worker, key
        self._home: list[tuple[str, Path]] = []  # files there, and where they belong here
        self._status: list[tuple[int | None, int]] = []
        self._answered = time.monotonic()
        self._fault = ""
        self._changed, self._left = threading.Event(), threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def ask(self, what: str, **arguments: Any) -> Any:
        """Has the agent do something; raises Gone, or what is wrong there."""
        if self.gone:
            raise self._why()
        try:
            return self._client.run(agent.ask, self._key, what, arguments, workers=[self._worker])[
                self._worker
            ]
        except (TaktError, ValueError, FileNotFoundError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever happens on the way
            self._fault = str(error)
            raise self._why() from None

    @property
    def gone(self) -> bool:
        """Whether it has not answered for a while."""
        silent = time.monotonic() - self._answered
        return silent > (GONE_S if self._fault else SILENT_S)

    def launch(
        self,
        command: list[str],
        *,
        files: dict[str, str],
        profiles: dict[str, str],
        domain: int,
        home: dict[str, Path],
        stderr: str,
        samples: str | None,
        watched: bool = False,
    ) -> RemoteProcess:
        """Starts a program there; ``home`` says of files there where they belong here."""
        self._home += home.items()
        number = self.ask(
            "start",
            command=command,
            files=files,
            profiles=profiles,
            ros_domain=domain,
            stderr=stderr,
            samples=samples,
            watched=watched,
        )
        return RemoteProcess(self, number)

    def status(self, number: int) -> tuple[int | None, int]:
        """How a program has ended, if it has, and how much it has recorded."""
        known = self._status[number] if number < len(self._status) else (None, 0)
        return (GONE, known[1]) if known[0] is None and self.gone else known

    def signal(self, number: int, sign: signal.Signals) -> None:
        """Signals a program, whose end is then looked for at once."""
        with contextlib.suppress(Failure):
            self.ask("signal", number=number, sign=int(sign))
        self._changed.set()

    def bring_home(self) -> None:
        """Fetches what its programs have written; raises Gone."""
        for there, here in self._home:
            self.fetch(there, here)

    def fetch(self, there: str, here: Path) -> bool:
        """Copies one file; whether there was one."""
        size = self.ask("size", path=there)
        if size is None:
            return False
        with here.open("wb") as file:
            while file.tell() < size:
                part = self.ask("part", path=there, offset=file.tell())
                if not part:
                    break  # it was cut meanwhile; readers tell what is whole
                file.write(part)
        return True

    def clock(self) -> Clock:
        """Its clock now."""
        found: Clock = self.ask("clock")
        return found

    def leave(self) -> None:
        """Ends the session, whose files are home or not wanted."""
        self._left.set()
        self._changed.set()
        if self._abandoned:
            return
        with contextlib.suppress(Failure):
            self.ask("close")

    _abandoned = False

    def abandon(self) -> None:
        """Lets the agent keep what was recorded, for a resume."""
        self._abandoned = True

    def why_gone(self) -> str:
        """What is known of a host that does not answer."""
        return f"lost the host {self.name}: {self._fault or 'it does not answer'}"

    def _why(self) -> Gone:
        return Gone(
            self.why_gone(),
            where=f"host {self.name}, worker {self._worker}",
            fix="start its worker again, then continue with: takt run --resume",
        )

    def _listen(self) -> None:
        """Asks now and then how its programs are, which also tells the agent that we live."""
        while not self._left.is_set():
            try:
                # Of one that has left nobody waits for the connection.
                if not self._client.nthreads(workers=[self._worker]):
                    raise LookupError("its worker has left the scheduler")
                self._status = self._client.run(
                    agent.ask, self._key, "status", {}, workers=[self._worker]
                )[self._worker]
                self._answered, self._fault = time.monotonic(), ""
            except Exception as error:  # noqa: BLE001 - until it has been so for a while
                self._fault = str(error)
            self._changed.wait(LOOK_S)
            self._changed.clear()


class RemoteProcess:
    """A program on another host; the same to its watchers as ``Process``."""

    pid = None  # a number of another machine

    def __init__(self, host: Remote, number: int) -> None:
        self._host, self.number = host, number

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs; GONE with its host."""
        return self._host.status(self.number)[0]

    def wait(self, seconds: float | None = None) -> int | None:
        """As ``poll``, after its end or so many seconds."""
        limit = None if seconds is None else time.monotonic() + seconds
        while self.poll() is None and (limit is None or time.monotonic() < limit):
            time.sleep(LOOK_S / 10)
        return self.poll()

    def signal(self, number: signal.Signals) -> None:
        """Signals it and all that it started."""
        if self.poll() is None:
            self._host.signal(self.number, number)

    @property
    def recorded(self) -> int:
        """How many samples it has recorded, as far as was heard."""
        return self._host.status(self.number)[1]

    @property
    def how_it_ended(self) -> str:
        """In words."""
        code = self.poll()
        if code is None:
            return "it is running"
        return self._host.why_gone() if code == GONE else how_ended(code)


def source_address(peer: str) -> str:
    """This machine's address on the way to another one; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        way.connect((peer, 9))
        return str(way.getsockname()[0])
