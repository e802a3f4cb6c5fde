# SPDX-License-Identifier: Apache-2.0
"""Fixtures: an install prefix with the fake probe, and the tool as users call it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import synthetic_hosts
from fake_machine import Fake
from forking import Zygote, at_start
from known_machines import ROBOT
from rendering import none_rendered
from synthetic_hosts import Cluster

from takt.errors import Failure
from takt.measure.run import again
from takt.network import namespace, stacks, transport
from takt.network.domain import own_domain
from takt.processes import scratch

HERE = Path(__file__).parent
PATIENCE_S = 300  # for one call of the tool, on a busy machine


@pytest.fixture(autouse=True)
def environment_at_start() -> Iterator[None]:
    """Puts back what Dask's nannies set for their workers and leave set in this process.

    Forked calls would each need a process of their own afterwards.
    """
    before = at_start(os.environ)
    yield
    for name in at_start(os.environ).keys() - before.keys():
        del os.environ[name]
    os.environ.update(before)


@pytest.fixture(autouse=True)
def nothing_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests beside each other disturb each other's cells; test_again.py is about repeating them."""
    monkeypatch.setattr(again, "MOST", 0)


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An install prefix whose only stack is ``fake``."""
    folder = tmp_path / "prefix" / "lib" / "takt_probes"
    folder.mkdir(parents=True)
    probe = folder / "probe_fake"
    probe.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{HERE / "fake_probe.py"}" "$@"\n')
    probe.chmod(0o755)
    monkeypatch.setenv("TAKT_PREFIX", str(tmp_path / "prefix"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    return tmp_path / "prefix"


@pytest.fixture
def folder(tmp_path: Path, prefix: Path) -> Path:
    """Of a run with the fake probe."""
    path = tmp_path / "run"
    path.mkdir()
    return path


@pytest.fixture
def unrendered() -> Iterator[None]:
    """No figure is rendered."""
    with none_rendered():
        yield


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lets probes that are held go on, once it is made."""
    path = tmp_path / "go"
    monkeypatch.setenv("TAKT_FAKE_GO", str(path))
    return path


@pytest.fixture
def app_runner() -> None:
    """What executes applications is built."""
    try:
        stacks.program("app_runner")
    except Failure:
        pytest.skip("app_runner is not installed")


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs in here are found before all others."""
    path = tmp_path / "bin"
    path.mkdir()
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    return path


@pytest.fixture
def interfaces(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """This end of each link that the test makes."""
    found: list[Path] = []
    connect = namespace._connect

    def connected(created: namespace.Link, *others: Any, **more: Any) -> None:
        found.append(Path("/sys/class/net", created.interface))
        connect(created, *others, **more)

    monkeypatch.setattr(namespace, "_connect", connected)
    return found


@pytest.fixture
def ros_domain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Nobody else's, for what a test starts by itself; it does not crash at its end."""
    profile = tmp_path / "fastdds.xml"
    profile.write_text(transport.profile("process", 0), encoding="utf-8")
    for name, value in transport.fast_dds(profile).items():
        monkeypatch.setenv(name, value)
    with own_domain() as number:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(number))
        yield


@pytest.fixture
def nothing(tmp_path: Path) -> Fake:
    """A machine of which nothing can be read."""
    return Fake(tmp_path)


@pytest.fixture
def robot(tmp_path: Path) -> Fake:
    """A well prepared robot: PREEMPT_RT, an isolated core, no power saving."""
    return Fake(tmp_path).put(ROBOT)


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in memory for this test alone, in place of /dev/shm."""
    folder = scratch.MEMORY / f"takt-test-{os.getpid()}"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Makes a file system of a given size."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system takes root")
    mounted: list[Path] = []

    def make(size: str) -> Path:
        place = tmp_path / f"disk{len(mounted)}"
        place.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
        if subprocess.run(command, capture_output=True).returncode:
            pytest.skip("this system does not allow mounting a tmpfs")
        mounted.append(place)
        return place

    yield make
    for place in mounted:
        subprocess.run(["umount", "-l", str(place)], check=True)


class Takt:
    """The command line in a process of its own, in a folder of its own."""

    def __init__(self, folder: Path, zygote: Zygote) -> None:
        self.folder = folder
        self._zygote = zygote

    def start(self, *arguments: str | Path, stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
        """As a user starts it, for what looks at it while it runs, or ends it."""
        path = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [sys.executable, "-m", "takt", *map(str, arguments)],
            cwd=self.folder,
            env={**self._environment(), "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        words, environment = [str(one) for one in arguments], self._environment()
        done = self._zygote.call(words, self.folder, environment, PATIENCE_S)
        return done or self.from_scratch(*arguments)

    def from_scratch(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """With a Python of its own."""
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=PATIENCE_S)
        except BaseException:
            process.kill()
            process.communicate()
            raise
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def json(self, *arguments: str | Path) -> dict[str, Any]:
        done = self(*arguments, "--json")
        assert done.stdout, done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        return document | {"exit_code": done.returncode}

    @staticmethod
    def _environment() -> dict[str, str]:
        return {**os.environ, "COLUMNS": "200"}


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    created = Zygote()
    yield created
    created.end()


@pytest.fixture
def takt(prefix: Path, tmp_path: Path, zygote: Zygote) -> Takt:
    return Takt(tmp_path, zygote)


@pytest.fixture
def experiment(tmp_path: Path) -> Callable[[str], Path]:
    """Writes an experiment file."""

    def write(text: str) -> Path:
        path = tmp_path / "experiment.yaml"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def machine_folder(tmp_path: Path) -> Path:
    return tmp_path / "machines"


@pytest.fixture
def cluster(
    machine_folder: Path, prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Cluster]:
    with synthetic_hosts.here(machine_folder) as opened:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(opened.tool.configuration))
        yield opened
