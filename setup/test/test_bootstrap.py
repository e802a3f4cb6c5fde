# SPDX-License-Identifier: Apache-2.0
"""The set-up below ``.takt``: what it installs, what it says, and what it refuses."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from setup import system_packages, workspace

SETUP = Path(__file__).resolve().parent.parent


def make(bootstrap: Any, name: str, requirements: str, title: str = "environment") -> None:
    """One environment, alone."""
    bootstrap.together(bootstrap.make_environment(name, requirements, title))


def test_missing_system_packages_are_named_in_one_line_where_apt_is_not_allowed(
    bootstrap: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "missing_packages", lambda _: ["g++", "libcli11-dev"])
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    which = {"apt-get": "/usr/bin/apt-get"}
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name, path=None: which.get(name))
    with pytest.raises(bootstrap.SetupError) as error:
        bootstrap.install_system_packages(False)
    (line,) = [line for line in str(error.value).splitlines() if "apt-get" in line]
    assert line.strip().startswith("sudo apt-get install")
    assert line.endswith("g++ libcli11-dev")


def test_an_ordinary_user_needs_nothing_that_only_some_tests_need(
    bootstrap: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    which = {"apt-get": "/usr/bin/apt-get"}
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name, path=None: which.get(name))
    monkeypatch.setattr(bootstrap, "missing_packages", lambda _: ["iproute2", "stress-ng"])
    bootstrap.install_system_packages(True)
    said = capfd.readouterr().err
    assert "the tests that need iproute2, stress-ng are skipped" in said
    assert "sudo apt-get install" in said


def test_programs_of_root_are_found_by_a_user_whose_path_does_not_name_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tc = tmp_path / "sbin" / "tc"
    tc.parent.mkdir()
    tc.write_text("#!/bin/sh\n")
    tc.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(system_packages, "OF_ROOT", (str(tc.parent),))
    assert system_packages.of_some_tests()["iproute2"] == str(tc)


def test_colcon_takes_the_wheels_for_a_prefix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from colcon_ros.prefix_path.ament import AmentPrefixPath

    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    before: list[str] = []
    AmentPrefixPath().extend_prefix_path(before)
    workspace.make_prefix(tmp_path)
    after: list[str] = []
    AmentPrefixPath().extend_prefix_path(after)
    assert (before, after) == ([], [str(tmp_path)])


@pytest.mark.parametrize("step", ["update", "install"])
def test_another_package_manager_is_waited_for(
    bootstrap: Any, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apt = tmp_path / "apt-get"
    busy = "echo 'E: Could not get lock /var/lib/dpkg/lock-frontend.'; exit 100"
    apt.write_text(
        f"#!/bin/sh\necho $1 $LC_ALL >> {tmp_path}/called\n"
        f'[ "$1" != {step} ] || [ -e {tmp_path}/hung ] || {{ touch {tmp_path}/hung; {busy}; }}\n'
    )
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(bootstrap, "missing_packages", lambda _: ["g++"])
    monkeypatch.setattr(bootstrap, "BETWEEN_S", 0.0)
    bootstrap.install_system_packages(False)
    called = (tmp_path / "called").read_text().splitlines()
    assert sorted(called) == sorted(["update C", "install C", f"{step} C"])
    # What another try does not fix ends it, also after one that had to wait.
    (tmp_path / "hung").unlink()
    with apt.open("a") as more:
        more.write("echo 'E: Unable to locate package g++'; exit 100\n")
    with pytest.raises(bootstrap.SetupError, match="Unable to locate"):
        bootstrap.install_system_packages(False)


def test_what_only_some_tests_need_and_this_system_does_not_have_is_left_out(
    bootstrap: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name, text in {
        "apt-get": f"echo $@ >> {tmp_path}/called",
        "apt-cache": "case $3 in stress-ng) ;; *) exit 100 ;; esac",
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    missing = ["libgtest-dev", "stress-ng", "rt-tests"]
    monkeypatch.setattr(bootstrap, "missing_packages", lambda _: missing)
    bootstrap.install_system_packages(True)
    update, install = (tmp_path / "called").read_text().splitlines()
    assert update == "update"
    assert install.endswith(" libgtest-dev stress-ng")  # what the build needs is asked for anyway
    assert "this system has no rt-tests" in capfd.readouterr().err
    missing[:] = ["rt-tests"]
    bootstrap.install_system_packages(True)
    assert (tmp_path / "called").read_text().splitlines()[2:] == ["update"]


def test_a_machine_without_wheels_of_ros_is_refused_unless_it_brings_its_own(
    bootstrap: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    monkeypatch.setattr(bootstrap.platform, "machine", lambda: "aarch64")
    with pytest.raises(bootstrap.SetupError, match="this machine is aarch64"):
        bootstrap.refuse_where_it_cannot_build()
    monkeypatch.setenv("ROS_DISTRO", "kilted")
    bootstrap.refuse_where_it_cannot_build()
    monkeypatch.delenv("ROS_DISTRO")
    with monkeypatch.context() as without:  # what needs none is set up
        without.setattr(bootstrap.distributions, "WHEELS", "none")
        bootstrap.refuse_where_it_cannot_build()
    monkeypatch.setattr(bootstrap.platform, "machine", lambda: "x86_64")
    bootstrap.refuse_where_it_cannot_build()


def test_an_environment_is_created_once_and_changed_requirements_are_installed_again(
    bootstrap: Any,
) -> None:
    make(bootstrap, "venv", "tool")
    created = (bootstrap.STATE / "venv" / "pyvenv.cfg").stat().st_mtime_ns
    stamp = bootstrap.STATE / "venv" / "takt-stamp"
    before = stamp.read_text()
    make(bootstrap, "venv", "tool")
    assert (bootstrap.STATE / "venv" / "pyvenv.cfg").stat().st_mtime_ns == created
    assert stamp.read_text() == before
    (bootstrap.REQUIREMENTS / "tool.txt").write_text("# changed\n")
    make(bootstrap, "venv", "tool")
    assert stamp.read_text() != before


@pytest.mark.thorough
def test_an_incomplete_environment_is_created_anew(bootstrap: Any) -> None:
    half = bootstrap.STATE / "venv" / "half-made"
    half.parent.mkdir()
    half.touch()
    make(bootstrap, "venv", "tool")
    assert not half.exists()
    assert (bootstrap.STATE / "venv" / "bin" / "python").exists()


def test_an_environment_also_serves_who_needs_less(
    bootstrap: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    created: list[str] = []

    def step(_command: list[str], title: str, *_: Any, **_options: Any) -> Iterator[None]:
        created.append(title)
        (bootstrap.STATE / "venv").mkdir(exist_ok=True)
        yield

    monkeypatch.setattr(bootstrap, "step", step)
    for name in ("check", "tool", "check", "dev", "tool", "check"):
        make(bootstrap, "venv", name, name)
    assert created == ["check: folder", "check", "tool", "dev"]


def test_a_clone_that_moved_builds_everything_anew(bootstrap: Any) -> None:
    bootstrap.discard_where_moved("/first wheels")
    (bootstrap.STATE / "install").mkdir()
    bootstrap.discard_where_moved("/first wheels")
    assert (bootstrap.STATE / "install").exists()
    bootstrap.discard_where_moved("/second wheels")
    assert not (bootstrap.STATE / "install").exists()


def test_a_failed_step_shows_its_output_and_where_the_log_is(bootstrap: Any) -> None:
    with pytest.raises(bootstrap.SetupError) as error:
        bootstrap.run(["sh", "-c", "echo the reason; exit 3"], "a step")
    assert "exit code 3" in str(error.value)
    assert "the reason" in str(error.value)
    assert str(bootstrap.LOG) in str(error.value)


def test_a_folder_in_which_ros_cannot_build_is_refused_at_once(
    bootstrap: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bootstrap, "ROOT", Path("/home/käthe/takt"))
    monkeypatch.setattr(bootstrap, "set_up", lambda _: pytest.fail("it began"))
    assert bootstrap.main("x") == 2
    assert "käthe" in capsys.readouterr().err


def test_a_disk_that_is_full_is_no_traceback(
    bootstrap: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: str) -> None:
        raise OSError(28, "No space left on device", "setup.log")

    monkeypatch.setattr(bootstrap, "set_up", full)
    assert bootstrap.main("x") == 2
    assert "No space left on device" in capsys.readouterr().err


def test_what_has_no_wheel_is_built_by_what_is_locked(
    bootstrap: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder_lines = "setuptools==84.2.1 \\\n    --hash=sha256:2\n"
    text = f"empy==4.2.1 \\\n    --hash=sha256:1\n{builder_lines}six==1\n"
    (bootstrap.REQUIREMENTS / "ros.txt").write_text(text)
    commands: list[list[str]] = []

    def step(command: list[str], *_: Any, **_options: Any) -> Iterator[None]:
        commands.append(command)
        (bootstrap.STATE / "ros").mkdir(exist_ok=True)
        yield

    monkeypatch.setattr(bootstrap, "step", step)
    make(bootstrap, "ros", "ros")
    _, builder, all_of_it = commands
    assert Path(builder[-1]).read_text() == builder_lines
    for command in (builder, all_of_it):
        assert {"--require-hashes", "--only-binary=:all:"} <= set(command)
    assert {"--no-binary=empy", "--no-build-isolation"} <= set(all_of_it)


def test_on_an_installation_of_ros_the_launcher_finds_the_libraries_that_it_built(
    tmp_path: Path,
) -> None:
    (tmp_path / "takt").write_bytes((SETUP.parent / "takt").read_bytes())
    for folder in ("setup", "src/takt", ".takt/venv/bin", ".takt/install/lib"):
        (tmp_path / folder).mkdir(parents=True)
    python = tmp_path / ".takt" / "venv" / "bin" / "python"
    python.write_text('#!/bin/sh\necho "${LD_LIBRARY_PATH-none}"\n')
    python.chmod(0o755)
    environment = {"PATH": os.environ["PATH"]}
    for distribution, expected in (
        ({}, "none"),
        ({"ROS_DISTRO": "kilted"}, f"{tmp_path}/.takt/install/lib"),
    ):
        ready = f"{tmp_path} {distribution.get('ROS_DISTRO', 'wheels')} check\n"
        (tmp_path / ".takt" / "ready").write_text(ready)
        done = subprocess.run(
            ["bash", tmp_path / "takt", "doctor"],
            env=environment | distribution,
            capture_output=True,
            text=True,
        )
        assert (done.stdout, done.returncode) == (f"{expected}\n", 0), done.stderr
