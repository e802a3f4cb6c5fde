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
from fake_machine import Fake
from known_machines import ROBOT

from takt.processes import scratch

HERE = Path(__file__).parent


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

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        path = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [sys.executable, "-m", "takt", *map(str, arguments)],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=50)
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


@pytest.fixture
def takt(prefix: Path, tmp_path: Path) -> Takt:
    return Takt(tmp_path)


@pytest.fixture
def experiment(tmp_path: Path) -> Callable[[str], Path]:
    """Writes an experiment file."""

    def write(text: str) -> Path:
        path = tmp_path / "experiment.yaml"
        path.write_text(text)
        return path

    return write
