# SPDX-License-Identifier: Apache-2.0
"""``takt setup``: it asks before it installs, and says the line where it may not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_process import gone, until

from takt.cli.main import main
from takt.cli.setup import PACKAGES, build, build_crate, library, missing_packages, state
from takt.errors import Failure
from takt.network.stacks import ON_REQUEST, find


def program(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system on which only pkg-config is installed; apt-get writes down how it is called."""
    program(
        tmp_path, "dpkg-query", 'echo "pkg-config installed"; echo "libroscpp-dev not-installed"'
    )
    program(tmp_path, "apt-get", f'echo "$@" >> {tmp_path}/called; exit 100')
    program(tmp_path, "sudo", '"$@"')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code, capsys.readouterr().err


def test_only_what_is_missing_is_asked_for(system: Path) -> None:
    assert missing_packages("ros1") == [
        "libroscpp-dev",
        "ros-message-generation",
        "python3-rosmaster",
    ]


def test_without_anybody_to_ask_nothing_is_installed(
    system: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, words = said(["setup", "ros1"], capsys)
    assert code == 1
    assert "./takt setup ros1 --yes" in words
    assert "apt-get update && apt-get install" in words
    assert "python3-rosmaster" in words
    assert not (system / "called").exists()


def test_a_failing_apt_is_reported(system: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, words = said(["setup", "ros1", "--yes"], capsys)
    assert (code, "apt-get update failed" in words) == (1, True)
    assert (system / "called").read_text() == "update\n"


def test_the_package_lists_come_first(system: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program(system, "apt-get", f'echo "$@" >> {system}/called; test "$1" = update')
    code, words = said(["setup", "ros1", "--yes"], capsys)
    assert (code, "apt-get install failed" in words) == (1, True)
    update, install = (system / "called").read_text().splitlines()
    assert update == "update"
    assert "libroscpp-dev" in install


def test_several_parts_are_installed_together(
    system: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(system, "apt-get", f'echo "$@" >> {system}/called; test "$1" = update')
    code, words = said(["setup", "ros1", "cyclictest", "ros1", "--yes"], capsys)
    assert (code, "apt-get install failed" in words) == (1, True)
    update, install = (system / "called").read_text().splitlines()
    assert update == "update"
    assert install.count("libroscpp-dev") == 1
    assert "rt-tests" in install
    code, words = said(["setup", "ros1", "cyclictest"], capsys)
    assert "./takt setup ros1 cyclictest --yes" in words


def test_a_system_without_apt_gets_the_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, words = said(["setup", "cyclictest"], capsys)
    assert (code, "rt-tests" in words) == (1, True)


@pytest.mark.parametrize("folder", [None, ".takt/jazzy"])
def test_the_probe_is_built_anew_and_looked_for(
    tmp_path: Path, folder: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if folder:
        monkeypatch.setenv("TAKT_STATE", folder)
    else:
        monkeypatch.delenv("TAKT_STATE", raising=False)
    assert state(tmp_path) == tmp_path / (folder or ".takt")
    cache = state(tmp_path) / "build" / "takt_probes" / "CMakeCache.txt"
    cache.parent.mkdir(parents=True)
    cache.write_text("roscpp: not found")
    program(tmp_path, "takt", "exit 0")
    with pytest.raises(Failure, match="not built: the probe of ros1"):
        build(["ros1"], tmp_path)
    probes = state(tmp_path) / "install" / "lib" / "takt_probes"
    made = f"mkdir -p {probes} && touch {probes}/probe_ros1"
    program(tmp_path, "takt", f'test "$1" = --setup-only && {made}')
    build(["ros1"], tmp_path)
    assert not cache.exists()
    with pytest.raises(Failure, match="not started from its source tree"):
        build(["ros1"], tmp_path / "elsewhere")


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    """The library that cargo is to make, in a source tree without it."""
    (tmp_path / "src" / "takt_rustdds").mkdir(parents=True)
    return library("takt_rustdds", tmp_path)


def test_without_cargo_it_says_what_to_install(
    crate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(Failure, match="cargo is not installed") as caught:
        build_crate("rustdds", "takt_rustdds", tmp_path, yes=True)
    assert "rustup" in (caught.value.fix or "")
    assert "./takt setup rustdds" in (caught.value.fix or "")


def test_cargo_builds_what_is_locked_where_the_probes_look_for_it(
    crate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    program(tmp_path, "cargo", f'pwd > {tmp_path}/called; echo "$@" >> {tmp_path}/called')
    with pytest.raises(Failure, match="not an interactive terminal") as caught:
        build_crate("rustdds", "takt_rustdds", tmp_path, yes=False)
    assert "cargo build --release --locked" in (caught.value.fix or "")
    assert not (tmp_path / "called").exists()
    build_crate("rustdds", "takt_rustdds", tmp_path, yes=True)
    where, how = (tmp_path / "called").read_text().splitlines()
    assert Path(where) == tmp_path / "src" / "takt_rustdds"
    assert how == f"build --release --locked --target-dir {crate.parents[1]}"
    program(tmp_path, "cargo", "exit 101")
    with pytest.raises(Failure, match="cargo build failed"):
        build_crate("rustdds", "takt_rustdds", tmp_path, yes=True)


BUILDING = """
import sys
from pathlib import Path
from takt.cli.setup import build, build_crate
root = Path(sys.argv[1])
if sys.argv[2] == "cargo":
    build_crate("rustdds", "takt_rustdds", root, yes=True)
else:
    build(["rustdds"], root)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("what", ["cargo", "takt"])
def test_what_builds_ends_with_the_tool_and_all_that_it_has_started(
    crate: Path, tmp_path: Path, what: str, number: signal.Signals
) -> None:
    program(tmp_path, what, f"sleep 600 & echo $! > {tmp_path}/new; mv {tmp_path}/new pid; wait")
    heard = "--default-signal=HUP"  # tests that nohup starts ignore it
    tool = subprocess.Popen(
        ["env", heard, sys.executable, "-c", BUILDING, str(tmp_path), what],
        env={**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin"},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    pid = (tmp_path / "src" / "takt_rustdds" if what == "cargo" else tmp_path) / "pid"
    while not pid.exists():
        assert tool.poll() is None
        time.sleep(0.01)
    os.kill(tool.pid, number)  # not its group: a program of it may have left that
    tool.wait()
    assert until(lambda: gone(int(pid.read_text())))


def test_a_missing_stack_that_can_be_added_names_the_command() -> None:
    none = find({})
    assert {*ON_REQUEST, "lab"} == set(PACKAGES)
    for name in ON_REQUEST:
        assert f"./takt setup {name}" in (none.missing(name, "--stack").fix or "")
