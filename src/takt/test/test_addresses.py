# SPDX-License-Identifier: Apache-2.0
"""Fast DDS tells hosts by their addresses: no run changes them while another one's ends start."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conditioned import needs
from test_real_probes import measured
from test_run import Quiet

from takt.measure.results.model import Status
from takt.processes import addresses, namespace
from takt.processes.supervision import Program

LINK = namespace.Wants(10**8)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Whose lock it is for this test: runs of other tests have that of all."""
    monkeypatch.setattr(addresses, "folder", lambda: str(tmp_path))
    return tmp_path


def held(by: Callable[[], contextlib.AbstractContextManager[None]]) -> bool:
    """Whether it would be waited for now."""
    tried: list[bool] = []
    with pytest.MonkeyPatch.context() as patch:
        attempt = addresses._try
        patch.setattr(addresses, "_try", lambda *words: tried.append(attempt(*words)) or True)
        with by():
            return not tried[0]


def test_who_changes_an_address_waits_for_all_who_keep_them(place: Path) -> None:
    with addresses.kept():
        assert not held(addresses.kept)
        assert held(addresses.changing)
    with addresses.changing():
        assert held(addresses.kept)
        assert held(addresses.changing)
    assert not held(addresses.changing)


def test_nobody_waits_for_ever(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "LIMIT_S", 0.0)
    with addresses.kept(), addresses.changing():
        pass


def test_an_address_of_a_link_comes_and_goes_under_the_lock(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs(host="here,namespace")
    seen = []
    steps, output = namespace._steps, namespace.output

    def stepped(*words: Any) -> Any:
        seen.append(("address", held(addresses.kept)))
        return steps(*words)

    def spied(command: list[str], *words: Any) -> Any:
        if "del" in command:
            seen.append(("removed", held(addresses.kept)))
        return output(command, *words)

    monkeypatch.setattr(namespace, "_steps", stepped)
    monkeypatch.setattr(namespace, "output", spied)
    with namespace.link(tmp_path, "0123456789", 250, LINK) as made:
        assert namespace.runs(made.interface)  # its address does not come later
        assert not held(addresses.changing)
    assert seen == [("address", True)] * 2 + [("removed", True)]


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
