# SPDX-License-Identifier: Apache-2.0
"""``takt lab hosts`` that is stopped: what is finished is kept, and the rest measured later."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_lab_hosts import AFTER, BEFORE

from takt.errors import Failure, TaktError
from takt.lab import between, cells, compare, guest, jobs, left
from takt.lab.cells import Planned
from takt.lab.hosts import HOSTS
from takt.lab.hosts_model import DOCUMENT
from takt.lab.kernels import Kernel
from takt.lab.modes import Mode
from takt.machine.system import System
from takt.measure.results import store
from takt.measure.results.model import Cell, Status
from takt.measure.run import session

SHELL_S = 60.0
ASKED = between.Asked(Mode.icount, 200, 1, 10, 1.0)
TESTS = 4


class Guests:
    """Made-up guests, which do the tests in their order; the shell of each copies what it left."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.kernel = Kernel("rt", "6.1-rt", folder / "vmlinuz", folder, real_time=True)
        self.booted: list[list[str]] = []
        self.ended: Callable[[int], None] = lambda _: None  # called before each test
        self.code = "0\n"
        self.stress = "$$"
        self._folder, self._todo = folder, {}
        self._both = threading.Barrier(2)
        patch.setattr(between, "_boot", self._prepare)
        patch.setattr(guest, "run", self._run)
        patch.setattr(compare, "machine_of", lambda *_: System(folder / "none"))
        patch.setattr(cells, "measured", self._measured)

    def _prepare(self, _kernel: Any, _asked: Any, host: Any, todo: Any, *_: Any) -> Any:
        self._todo[host.name] = [one.job.name for one in todo]
        return host

    @staticmethod
    def _measured(one: Planned, *_: Any) -> Cell:
        return one.cell.model_copy(update={"status": Status.complete, "notes": [], "error": None})

    def _run(self, host: Any, *_: Any) -> None:
        memory, out = self._folder / f"memory-{host.name}", host.out / host.name
        memory.mkdir(exist_ok=True)
        out.mkdir(exist_ok=True)
        if host.name == HOSTS[0]:
            self.booted.append(self._todo[host.name])
        for number, name in enumerate(self._todo[host.name]):
            self._both.wait(SHELL_S)
            self.ended(number)
            assert not (host.out / f"{name}.begin.{host.name}").exists()  # of an earlier boot
            (host.out / f"{name}.begin.{host.name}").touch()
            self._both.wait(SHELL_S)
            for end, text in {".before.counts": BEFORE, ".after.counts": AFTER}.items():
                (memory / f"{name}{end}").write_text(text)
            (memory / f"{name}.code").write_text(self.code)
            (memory / f"{name}-r0.taktsamples").write_text(f"{len(self.booted)}")
            script = jobs.kept(name, out, loaded=True).replace(jobs.MEMORY, str(memory))
            done = subprocess.run(["sh", "-c", f"stress={self.stress}\n{script}"], timeout=SHELL_S)
            assert done.returncode == 0


@pytest.fixture
def guests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guests:
    return Guests(tmp_path, monkeypatch)


def measure(guests: Guests, folder: Path, asked: between.Asked = ASKED) -> Any:
    return between.measure(guests.kernel, asked, folder, lambda _: None)


def ends_in(number: int, error: BaseException) -> Callable[[int], None]:
    def ended(at: int) -> None:
        if at == number:
            raise error

    return ended


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Failure("the guest panicked", where="console"), "the guest panicked"),
        (KeyboardInterrupt(), "the measurement was stopped"),
    ],
)
def test_what_is_finished_is_kept_and_the_same_command_measures_the_rest(
    guests: Guests, tmp_path: Path, error: BaseException, said: str
) -> None:
    folder = tmp_path / "results"
    guests.ended = ends_in(2, error)
    with pytest.raises(Failure, match=said) as stopped:
        measure(guests, folder)
    assert stopped.value.fix == (
        f"to go on (2 of {TESTS} tests are measured): the same command with --out {folder}"
    )
    run = store.read(folder)
    assert run.status is Status.partial
    pending = [one.status is Status.pending for one in run.cells]
    assert pending == [False, False, True, True]
    assert all(one.conditions for one in run.cells[:2])
    first, two = run.started, [one.id for one in run.cells[:2]]

    with pytest.raises(TaktError, match="of virtual machines"):
        session.resume(folder)

    guests.ended = lambda _: None
    with pytest.raises(Failure, match="other options"):
        measure(guests, folder, between.Asked(Mode.icount, 200, 1, 10, 1.0, seed=2))
    kept = {
        file.name: file.read_text()
        for name in HOSTS
        for file in (folder / left.LEFT / name).glob("*.taktsamples")
    }
    assert kept == {f"{one}-r0.taktsamples": "1" for one in two}
    found = measure(guests, folder)
    assert [len(one) for one in guests.booted] == [TESTS, 2]
    assert guests.booted[1] == guests.booted[0][2:]
    assert [one.cell for one in found.tests] == guests.booted[0]
    run = store.read(folder)
    assert run.status is Status.complete
    assert run.started == first
    assert not (folder / left.LEFT).exists()

    assert measure(guests, folder) == found  # nothing is left to do
    assert len(guests.booted) == 2
    (folder / DOCUMENT).write_text("{")
    with pytest.raises(Failure, match="cannot read the results"):
        measure(guests, folder)


def test_a_run_that_is_killed_is_there_from_the_beginning(guests: Guests, tmp_path: Path) -> None:
    statuses: list[Status] = []
    folder = tmp_path / "results"
    guests.ended = lambda _: statuses.append(store.read(folder).status)
    measure(guests, folder)
    assert set(statuses) == {Status.partial}


def test_a_test_whose_load_has_ended_does_not_count(guests: Guests, tmp_path: Path) -> None:
    guests.stress = "999999999"
    found = measure(guests, tmp_path / "results")
    assert {one.fault.partition(":")[0] for one in found.tests if one.fault} == {
        "the load ended before the measurement"
    }
    assert [one.sent for one in found.late] == [0] * TESTS
    assert store.read(tmp_path / "results").status is Status.failed


def test_a_test_that_failed_in_a_guest_that_died_is_measured_again(
    guests: Guests, tmp_path: Path
) -> None:
    guests.code, guests.ended = "1\n", ends_in(1, Failure("the guest panicked"))
    with pytest.raises(Failure, match="panicked"):
        measure(guests, tmp_path / "results")
    guests.code, guests.ended = "0\n", lambda _: None
    measure(guests, tmp_path / "results")
    assert [len(one) for one in guests.booted] == [TESTS, TESTS]
