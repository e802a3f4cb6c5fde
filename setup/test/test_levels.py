# SPDX-License-Identifier: Apache-2.0
"""What a start sets up: no more than its command needs, and nothing twice."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from setup import bootstrap, workspace
from setup.levels import LEVELS, measures_only

from takt.measure.check import plan

ROOT = Path(__file__).resolve().parents[2]


class Clone:
    """A clone whose set-up only notes what it was asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked = folder / "asked"
        shutil.copy(ROOT / "takt", folder / "takt")
        for name in ("setup", "src/takt", ".takt/venv/bin", ".takt/install/lib"):
            (folder / name).mkdir(parents=True)
        (folder / "setup" / "bootstrap.py").write_text(
            "import pathlib, sys\n"
            "root = pathlib.Path(__file__).resolve().parents[1]\n"
            "with (root / 'asked').open('a') as file: print(sys.argv[1], file=file)\n"
            "(root / '.takt' / 'ready').write_text(sys.argv[1] + '\\n')\n"
        )
        python = folder / ".takt" / "venv" / "bin" / "python"
        python.write_text("#!/bin/sh\n")
        python.chmod(0o755)

    def start(self, *arguments: str) -> list[str]:
        """The levels that its set-ups were asked for until now."""
        command = ["bash", str(self.folder / "takt"), *arguments]
        subprocess.run(command, env={"PATH": "/usr/bin:/bin"}, check=True)
        if not self.asked.exists():
            return []
        lines = self.asked.read_text().splitlines()
        assert all(line.startswith(f"{self.folder} wheels ") for line in lines)
        return [line.rpartition(" ")[2] for line in lines]


@pytest.mark.parametrize(
    ("command", "level"),
    [
        ((), "check"),
        (("--help",), "check"),
        (("check",), "check"),
        (("doctor", "--json"), "check"),
        (("tune", "--dry-run"), "check"),
        (("check", "--out", "x", "--tuned"), "measure"),
        (("run", "x.yaml"), "measure"),
        (("compare", "a", "b"), "measure"),
        (("execute", "x.app.yaml"), "tool"),
        (("bench",), "tool"),
        (("--setup-only",), "tool"),
        (("test", "style"), "dev"),
    ],
)
def test_a_first_start_sets_up_what_its_command_needs(
    tmp_path: Path, command: tuple[str, ...], level: str
) -> None:
    assert Clone(tmp_path).start(*command) == [level]


def test_what_is_there_is_not_set_up_again_and_what_is_missing_is(tmp_path: Path) -> None:
    clone = Clone(tmp_path)
    assert clone.start("check") == ["check"]
    assert clone.start("doctor") == ["check"]
    assert clone.start("bench") == ["check", "tool"]
    assert clone.start("check") == ["check", "tool"]
    assert clone.start("run", "x.yaml") == ["check", "tool"]


def test_a_changed_source_is_built_again_with_all_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = []
    state = tmp_path / ".takt"
    state.mkdir()
    (state / "ready").write_text("/a clone wheels tool\n")
    monkeypatch.setenv("ROS_DISTRO", "none")  # no wheels
    monkeypatch.setattr(bootstrap, "STATE", state)
    monkeypatch.setattr(bootstrap, "LOG", state / "log")
    for step in ("install_system_packages", "discard_where_moved", "write_reference"):
        monkeypatch.setattr(bootstrap, step, lambda *_: None)
    monkeypatch.setattr(bootstrap, "make_environment", lambda *_: (_ for _ in ()))
    monkeypatch.setattr(bootstrap, "build", lambda level, _: built.append(level))
    bootstrap.set_up("/a clone wheels check")
    bootstrap.set_up("/another clone wheels check")
    assert built == ["tool", "check"]


def test_an_environment_holds_those_of_lower_levels() -> None:
    requirements = ROOT / "setup" / "requirements"
    locked = {
        name: set(
            re.findall(r"^[\w.-]+==.*$", (requirements / f"{name}.txt").read_text(), re.MULTILINE)
        )
        for name in ("check", "tool", "dev")
    }
    assert locked["check"] < locked["tool"] < locked["dev"]


def test_a_check_imports_nothing_that_its_environment_lacks(tmp_path: Path) -> None:
    for name in ("scipy", "duckdb", "matplotlib", "distributed", "ruamel"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the check imports ' + __name__)\n")
    modules = [
        "takt.cli.check",
        "takt.cli.doctor",
        "takt.cli.clean",
        "takt.cli.tune",
        "takt.tune.apply",
        "takt.tune.revert",
        "takt.tune.review",
        "takt.tune.show",
        "takt.cli.session",
        "takt.measure.check.plan",
        "takt.measure.check.show",
        "takt.measure.check.verdict",
        "takt.measure.run.session",
        "takt.measure.report.html",
    ]
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {', '.join(modules)}"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr


def packages(level: str) -> set[str]:
    """Those that colcon builds at a level, by its own choice."""
    line = workspace.command(ROOT, ROOT / ".takt", level, "", None)
    chosen = [one for one in line if one.startswith(("--base-paths", "--packages"))]
    done = subprocess.run(
        [Path(sys.executable).with_name("colcon"), "list", "--names-only", *chosen],
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize("level", LEVELS)
def test_every_package_that_is_built_has_its_share_in_the_progress(level: str) -> None:
    shares = workspace.SHARES[measures_only(level)]
    assert shares.keys() == packages(level)
    assert sum(shares.values()) == 100


@pytest.mark.parametrize("level", LEVELS)
def test_only_a_check_leaves_out_other_stacks(level: str) -> None:
    given = "-DTAKT_CHECK_ONLY=" + ("ON" if level == "check" else "OFF")
    assert given in workspace.command(ROOT, ROOT / ".takt", level, "", None)


def test_packages_are_built_beside_each_other_where_there_is_the_memory_for_it() -> None:
    little, much = 4 << 30, 1 << 40
    assert workspace.parallel(False, little) == ["--executor=sequential"]
    beside = workspace.parallel(False, much)
    assert beside == workspace.parallel(True, little) != workspace.parallel(False, little)


def test_a_check_measures_with_the_probes_that_its_level_builds() -> None:
    assert {layer["stack"] for layer in plan.LAYERS} == {"raw", "rcl"}


def test_progress_says_package_step_and_rest() -> None:
    assert workspace.progress("", 3.0, "check") == ""
    log = "Starting >>> takt_core\n[1/80] Building\n[40/80] Building\n"
    half = workspace.SHARES[True]["takt_core"] / 2
    assert workspace.progress(log, 5.0, "check") == "takt_core, package 1 of 5, step 40 of 80"
    rest = f"{60 * (100 - half) / half:.0f} s"
    assert workspace.progress(log, 60.0, "check").endswith(f"step 40 of 80, about {rest} left")
    log += "[80/80] Linking\nFinished <<< takt_core [1min]\nStarting >>> takt_interfaces\n"
    assert workspace.progress(log, 5.0, "check") == "takt_interfaces, package 2 of 5"


def test_progress_of_two_packages_at_a_time() -> None:
    log = "Starting >>> takt_core\nStarting >>> takt_interfaces\n[1/80] x\n[2/25] x\n"
    said = workspace.progress(log, 60.0, "check")
    assert said == "takt_core and takt_interfaces, packages 1 and 2 of 5"
    log += "Finished <<< takt_interfaces [20s]\n[40/80] x\n"
    done = workspace.SHARES[True]["takt_interfaces"] + workspace.SHARES[True]["takt_core"] / 2
    said = workspace.progress(log, 60.0, "check")
    assert said.startswith("takt_core, package 2 of 5, step 40 of 80, about ")
    assert said.endswith(f"about {60 * (100 - done) / done:.0f} s left")


def test_packages_beside_the_wheels_are_found_behind_them() -> None:
    clone, state, ros = Path("/clone"), Path("/clone/.takt"), Path("/clone/.takt/ros")
    given = {"PATH": "/usr/bin", "CMAKE_PREFIX_PATH": "/more", "AMENT_PREFIX_PATH": ""}
    variables = workspace.environment(clone, state, ros, given)
    assert variables["CMAKE_PREFIX_PATH"] == f"{ros}:/more"
    assert variables["AMENT_PREFIX_PATH"] == str(ros)
    outside_ros = workspace.environment(clone, state, ros, {"PATH": "/usr/bin"})
    assert outside_ros["CMAKE_PREFIX_PATH"] == str(ros)
    # An installation that was sourced stays as it is.
    assert workspace.environment(clone, state, None, given)["CMAKE_PREFIX_PATH"] == "/more"


def test_a_second_clone_finds_what_the_first_one_compiled(tmp_path: Path) -> None:
    tool = tmp_path / "ccache"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    given = {"PATH": str(tmp_path)}
    variables = workspace.environment(Path("/clone"), Path("/clone/.takt"), None, given)
    assert variables["CMAKE_CXX_COMPILER_LAUNCHER"] == "ccache"
    assert variables["CCACHE_BASEDIR"] == "/clone"
    given["CMAKE_CXX_COMPILER_LAUNCHER"] = "mine"
    variables = workspace.environment(Path("/clone"), Path("/clone/.takt"), None, given)
    assert variables["CMAKE_CXX_COMPILER_LAUNCHER"] == "mine"
    tool.unlink()
    variables = workspace.environment(
        Path("/clone"), Path("/clone/.takt"), None, {"PATH": "/nowhere"}
    )
    assert "CMAKE_CXX_COMPILER_LAUNCHER" not in variables
