# SPDX-License-Identifier: Apache-2.0
"""Fast DDS tells hosts by their addresses: no run changes them while another one's ends start."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conditioned import needs
from test_real_probes import measured
from test_run import Quiet

from takt.documents import own
from takt.measure.results.model import Status
from takt.network import addresses, namespace
from takt.processes.supervision import Program

LINK = namespace.Wants(10**8)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Whose lock it is for this test: runs of other tests have that of all."""
    monkeypatch.setattr(addresses, "folder", lambda: str(tmp_path))
    return tmp_path


def held(by: Callable[[], contextlib.AbstractContextManager[None]]) -> bool:
    """Whether it would be waited for now."""
    waited: list[Path] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(addresses._Patience, "wait", lambda _, path, what: waited.append(path))
        patch.setattr(addresses._Patience, "left", property(lambda _: not waited))
        with by():
            return bool(waited)


def test_who_changes_an_address_waits_for_all_who_keep_them(place: Path) -> None:
    with addresses.kept():
        assert not held(addresses.kept)
        assert held(addresses.changing)
    with addresses.changing():
        assert held(addresses.kept)
        assert held(addresses.changing)
    assert not held(addresses.changing)
    assert list(place.iterdir()) == []


def test_nobody_waits_for_ever_and_who_waits_says_for_whom(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(addresses, "LIMIT_S", 0.1)
    with addresses.kept(), addresses.changing():
        pass
    user = own.user_name(os.geteuid())
    said = capsys.readouterr().err
    assert f"process {os.getpid()} of {user} may be starting processes" in said
    assert said.count("takt: ") == 1


HOLDING = """
import fcntl, os, sys
os.setgid(54321); os.setuid(54321)
os.umask(0o077)
if sys.argv[2] == "folder":
    file = os.open(sys.argv[1], os.O_RDONLY)
else:
    file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def a_stranger_holds(path: Path, how: str) -> Iterator[int]:
    """Another user has something locked."""
    with subprocess.Popen(
        [sys.executable, "-IS", "-c", HOLDING, path, how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process.pid
        process.kill()


@pytest.fixture
def everybodys(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """As /tmp is."""
    if os.geteuid() != 0:
        pytest.skip("to be another user takes root")
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o1777)
        monkeypatch.setattr(addresses, "folder", lambda: name)
        yield Path(name)


@pytest.mark.parametrize("what", ["", "takt-addresses-54321.lock", "takt-addresses-1.lock"])
def test_another_user_holds_up_no_measurement(
    everybodys: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = everybodys / what
    with a_stranger_holds(path, "file" if what else "folder") as pid:
        assert not held(addresses.kept)
        # Only who changes an address waits, for a lock that is really that user's.
        assert held(addresses.changing) is (what == "takt-addresses-54321.lock")
        if "54321" in what:
            assert addresses.holders(path) == [(pid, True)]
    said = capsys.readouterr().err
    assert ("takt-addresses-1.lock: it belongs to user 54321" in said) is ("-1" in what)
    assert (everybodys / what).exists()


def test_a_lock_of_another_user_is_reported_and_not_waited_for(
    everybodys: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = everybodys / addresses.LOCK.format(0)
    with a_stranger_holds(path, "file"):
        assert not held(addresses.kept)
        assert not held(addresses.changing)
    assert "continuing without a lock" in capsys.readouterr().err
    assert path.exists()


def test_who_is_not_root_waits_while_root_changes_an_address(everybodys: Path) -> None:
    code = """
import os, sys
from pathlib import Path
from takt.network import addresses
os.setgid(54321); os.setuid(54321)
addresses.folder = lambda: sys.argv[1]
with addresses.kept():
    print("kept", flush=True)
"""
    changing = addresses.changing()
    changing.__enter__()
    with subprocess.Popen(
        [sys.executable, "-c", code, everybodys],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stderr is not None
        printed = other.stderr.readline()
        assert f"process {os.getpid()} of root may change an address" in printed
        assert other.poll() is None
        changing.__exit__(None, None, None)
        assert other.stdout.readline() == "kept\n"
    assert list(everybodys.iterdir()) == []


def test_an_address_of_a_link_comes_and_goes_under_the_lock(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs(host="here,namespace")
    changes = []
    steps, output = namespace._steps, namespace.output

    def stepped(*words: Any) -> Any:
        changes.append(("address", held(addresses.kept)))
        return steps(*words)

    def spied(command: list[str], *words: Any) -> Any:
        if "del" in command:
            changes.append(("removed", held(addresses.kept)))
        return output(command, *words)

    monkeypatch.setattr(namespace, "_steps", stepped)
    monkeypatch.setattr(namespace, "output", spied)
    with namespace.link(tmp_path, "0123456789", 250, LINK) as new_link:
        assert namespace.runs(new_link.interface)  # its address does not come later
        assert not held(addresses.changing)
    assert changes == [("address", True)] * 2 + [("removed", True)]


@pytest.fixture
def linking(tmp_path: Path) -> Iterator[threading.Thread]:
    """Another run, which makes a link and removes it."""

    def make() -> None:
        with namespace.link(tmp_path, "0123456789", 250, LINK):
            pass

    thread = threading.Thread(target=make)
    yield thread
    if thread.ident:
        thread.join()


def test_a_link_that_is_made_between_the_starts_of_two_ends_does_not_part_them(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linking: threading.Thread
) -> None:
    needs(host="here,namespace")
    met: list[bool] = []
    pings: list[Program] = []
    start, steps = Program.start, namespace._steps
    asked = threading.Event()
    changing = addresses.changing

    def started(program: Program, environment: dict[str, str]) -> None:
        if program.role == "ping":
            pings.append(program)
            linking.start()
            assert asked.wait(150)
        start(program, environment)

    def asking() -> contextlib.AbstractContextManager[None]:
        asked.set()
        return changing()

    def stepped(*words: Any) -> Any:
        met.append(pings[0].recorded > 0)
        return steps(*words)

    monkeypatch.setattr(Program, "start", started)
    monkeypatch.setattr(namespace, "_steps", stepped)
    monkeypatch.setattr(addresses, "changing", asking)
    (tmp_path / "run").mkdir()
    keys = {"stack": "rcl", "kind": "pingpong", "transport": "shm", "duration": "2s"}
    cell = measured(tmp_path / "run", Quiet(), **keys).cells[0]
    assert (cell.status, cell.error) == (Status.complete, None)
    linking.join()
    assert met == [True, True]  # of both ends of the link
