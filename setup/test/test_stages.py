# SPDX-License-Identifier: Apache-2.0
"""``./takt test``: which stages run, what is told before, and that one failure fails it."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
from itertools import chain
from pathlib import Path
from types import ModuleType

import pytest

SETUP = Path(__file__).resolve().parents[1]


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, with three stages that only leave a mark."""
    monkeypatch.syspath_prepend(str(SETUP.parent))
    spec = importlib.util.spec_from_file_location("takt_suite", SETUP / "test.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stages = sys.modules["setup.stages"]

    def stage(name: str, code: int, *, always: bool) -> object:
        def commands() -> list[list[str]]:
            mark = f"from pathlib import Path; Path({str(tmp_path / name)!r}).touch()"
            return [
                [sys.executable, "-c", f"raise SystemExit({code})"],
                [sys.executable, "-c", mark],
            ]

        commands.__doc__ = f"What {name} is."
        return stages.Stage(commands, always=always)

    stage_table = {"quick": stage("quick", 0, always=True), "long": stage("long", 0, always=False)}
    monkeypatch.setattr(
        module, "STAGES", stage_table | {"broken": stage("broken", 3, always=False)}
    )
    monkeypatch.setattr(module, "SECONDS", tmp_path / "seconds.json")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


def test_without_all_the_long_ones_are_left_out_and_named(
    suite: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert suite.main([]) == 0
    assert (tmp_path / "quick").exists()
    assert not (tmp_path / "long").exists()
    assert "not now: long, broken" in capfd.readouterr().out


def test_with_all_every_stage_runs_and_a_failure_stops_none(
    suite: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert suite.main(["--all"]) == 1
    assert all((tmp_path / name).exists() for name in ("quick", "long", "broken"))
    out = capfd.readouterr().out
    assert "Failed stages: broken" in out
    assert "2 passed, 1 failed" in out


def test_how_long_it_took_last_time_is_reported_before(
    suite: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    suite.SECONDS.write_text('{"quick": 90, "long": "?"}')
    suite.main(["quick"])
    assert "last time" not in capfd.readouterr().out  # a damaged file is as none
    suite.SECONDS.write_text('{"quick": 90, "gone": 5}')
    suite.main(["quick", "long"])
    head, quick, long = capfd.readouterr().out.splitlines()[:3]
    assert head == "takt test: 2 stages, last time 1.5 min without long"
    assert (quick.split(), long.split()) == (
        ["quick", "90", "s", "What", "quick", "is."],
        ["long", "?", "What", "long", "is."],
    )


def test_a_stage_that_failed_has_a_last_time_though_a_later_one_is_interrupted(
    suite: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> list[list[str]]:
        raise KeyboardInterrupt

    later = sys.modules["setup.stages"].Stage(interrupted, always=False)
    monkeypatch.setattr(suite, "STAGES", suite.STAGES | {"later": later})
    with pytest.raises(KeyboardInterrupt):
        suite.main(["broken", "later"])
    assert set(suite.last_seconds()) == {"broken"}


def test_a_stage_beside_another_runs_meanwhile_and_shows_its_output_in_one_piece(
    suite: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"

    def meeting(mine: Path, other: Path, code: int) -> list[list[str]]:
        lines = (
            "import os, time; from pathlib import Path",
            f"Path({str(mine)!r}).touch(); print('I am', {mine.name!r}, flush=True)",
            "print(os.environ.get('LEFT', 'mine'))",
            f"while not Path({str(other)!r}).exists(): time.sleep(0.01)",
            f"print('I met', {other.name!r}); raise SystemExit({code})",
        )
        return [[sys.executable, "-c", "\n".join(lines)]]

    make = sys.modules["setup.stages"].Stage
    host = make(lambda: meeting(here, there, 0), always=True)
    guest = make(lambda: meeting(there, here, 3), always=True, beside="host")
    monkeypatch.setattr(suite, "STAGES", {"guest": guest, "host": host})
    assert subprocess.run([*suite.LEFT_OVER, "true"]).returncode == 0
    # With idle priority it would wait for ever longer the busier the machine is.
    monkeypatch.setattr(suite, "LEFT_OVER", ("env", "LEFT=left over"))
    suite.SECONDS.write_text('{"guest": 60, "host": 90}')
    assert suite.main([]) == 1
    printed = capfd.readouterr().out
    assert "2 stages, last time 1.5 min\n" in printed
    assert "Beside host." in printed
    assert "=== guest: \nI am there\nleft over\nI met here\n--- exit code 3" in printed
    assert "\nmine\n" in printed
    assert "Failed stages: guest\n1 passed, 1 failed" in printed
    assert set(suite.last_seconds()) == {"guest", "host"}


def test_a_stage_beside_others_is_waited_for_where_it_is_needed_and_at_the_end(
    suite: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    make = sys.modules["setup.stages"].Stage
    log = tmp_path / "log"

    def stage(name: str, *, after: str = "", **how: str) -> object:
        lines = (
            "import time; from pathlib import Path; log = Path({log!r})",
            f"while {after!r} not in (log.read_text() if log.exists() else ''): time.sleep(0.01)",
            f"log.open('a').write({f'{name} '!r})",
        )
        program = "\n".join(lines).replace("{log!r}", repr(str(log)))
        return make(lambda: [[sys.executable, "-c", program]], always=True, **how)

    stages = {
        "first": stage("first"),
        "guest": stage("guest", after="second", beside="first"),  # not only beside that one
        "made": stage("made", beside="first", until="third"),
        "kept": stage("kept", after="fourth", beside="first"),  # which nobody needs
        "second": stage("second", after="first"),
        "third": stage("third"),
        "last": stage("last", after="kept", beside="third"),
        "fourth": stage("fourth"),
    }
    monkeypatch.setattr(suite, "STAGES", stages)
    monkeypatch.setattr(suite, "LEFT_OVER", ())
    assert suite.main([]) == 0
    assert log.read_text().split() == [
        *("first", "second", "guest", "made"),
        "third",
        *("fourth", "kept", "last"),
    ]
    assert "8 passed, 0 failed" in capfd.readouterr().out
    assert set(suite.last_seconds()) == set(stages)


def test_a_stage_beside_one_that_was_not_asked_for_runs_alone(
    suite: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    guest = sys.modules["setup.stages"].Stage(lambda: [["false"]], always=True, beside="quick")
    monkeypatch.setattr(suite, "STAGES", suite.STAGES | {"guest": guest})
    assert suite.main(["guest"]) == 1
    assert "Beside" not in capfd.readouterr().out


def test_an_unknown_stage_is_wrong_use(
    suite: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    assert suite.main(["pyton"]) == 2
    assert "no stage 'pyton'; stages are quick, long, broken" in capfd.readouterr().err


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_lists_the_stages_and_runs_none(
    suite: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str], option: str
) -> None:
    assert suite.main([option]) == 0
    printed = capfd.readouterr().out
    assert "Usage: ./takt test" in printed
    assert all(f"What {name} is." in printed for name in suite.STAGES)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("option", "module"), [("--abi", "abi"), ("--coverage", "covered")])
def test_interfaces_and_coverage_are_looked_at_without_a_stage(
    suite: ModuleType, monkeypatch: pytest.MonkeyPatch, option: str, module: str
) -> None:
    monkeypatch.setattr(getattr(suite, module), "main", lambda words: 40 + len(words))
    assert suite.main([option, "word"]) == 41


def test_every_stage_says_what_it_is(suite: ModuleType) -> None:
    from setup.stages import STAGES

    assert all(stage.what for stage in STAGES.values())
    assert {name for name, stage in STAGES.items() if stage.always} >= {"style", "python", "cpp"}
    named = {one for stage in STAGES.values() for one in (stage.beside, stage.until) if one}
    assert named <= STAGES.keys()


def test_every_test_in_cpp_is_in_one_of_the_two_stages(suite: ModuleType) -> None:
    from setup import sanitized, stages
    from setup.distributions import STATE

    core = STATE / "build" / "takt_core"
    if not (core / "CTestTestfile.cmake").exists():
        pytest.skip("the tests of takt_core are not built here")

    def listed(*commands: list[str]) -> list[str]:
        printed = [
            subprocess.run([*command, "-N"], capture_output=True, text=True, check=True).stdout
            for command in commands
        ]
        return sorted(re.findall(r"^ *Test +#\d+: (.*)$", "".join(printed), re.MULTILINE))

    built = [one.parent for one in core.parent.glob("*/CTestTestfile.cmake")]
    assert len(built) > 3
    every = listed(*map(sanitized.ctest, built))
    assert len(every) > 500
    thorough = [one for one in stages.thorough() if str(core) in one]
    assert listed(*stages.cpp(), *thorough) == every


def test_takt_rclcpp_is_sanitized_only_where_the_last_build_found_rclcpp(
    suite: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from setup import sanitized

    monkeypatch.setattr(sanitized, "STATE", tmp_path)
    without = sanitized.commands()
    library = tmp_path / "install" / "lib" / "libtakt_rclcpp.so"
    assert str(sanitized.RCL) in chain(*without)
    assert not any("takt_rclcpp" in Path(word).parts for word in chain(*without))
    library.parent.mkdir(parents=True)
    library.touch()
    commands = sanitized.commands()
    added = [one for one in commands if one not in without]
    assert [one for one in commands if one in without] == without
    for sanitizer in ("address", "thread"):
        core = tmp_path / f"build-{sanitizer}"
        of_one = [one for one in added if any(word.startswith(str(core)) for word in one)]
        configured, built, *run = of_one
        assert configured[configured.index("-S") + 1] == str(sanitized.RCLCPP)
        assert f"-Dtakt_core_DIR={core / 'install/share/takt_core/cmake'}" in configured
        # The core that it stands on is installed before.
        assert commands.index(configured) > commands.index(
            [str(sanitized.BIN / "cmake"), "--install", str(core)]
        )
        targets = [word.partition("=")[2] for word in built if word.startswith("--target=")]
        programs = [Path(word).name for one in run for word in one if word.startswith(str(core))]
        assert targets == programs != []
        assert targets.pop() == sanitized.RCLCPP_LIVES.name
        assert all((sanitized.RCLCPP / "test" / f"{one}.cpp").exists() for one in targets)
    suppressions = set(re.findall(r"suppressions=(\S+)", " ".join(chain(*added))))
    assert suppressions == {str(sanitized.RCLCPP / "test" / "thread_sanitizer.supp")}
    assert all(Path(one).exists() for one in suppressions)


def test_the_lives_share_the_time_and_are_built_before(
    suite: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from setup import sanitized

    monkeypatch.setattr(sanitized, "STATE", tmp_path)
    (core_only,) = sanitized.lives("thread", 600, 7).tests
    core = tmp_path / "build-thread"
    how = [str(core / sanitized.CORE_LIVES), "--seconds", "600", "--seed", "7"]
    assert core_only[-len(how) :] == how
    library = tmp_path / "install" / "lib" / "libtakt_rclcpp.so"
    library.parent.mkdir(parents=True)
    library.touch()
    both = sanitized.lives("thread", 600, 7)
    programs = [core / sanitized.CORE_LIVES, core / "takt_rclcpp" / sanitized.RCLCPP_LIVES]
    assert [one[-5:-2] for one in both.tests] == [
        [str(one), "--seconds", "300"] for one in programs
    ]
    built = {word.partition("=")[2] for one in both.build for word in one}
    assert built >= {one.name for one in programs}


def test_the_last_lines_of_what_failed_come_again_at_the_end(
    suite: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = f"for i in range({2 * suite.LAST}): print('line', i, flush=True)"
    command = [sys.executable, "-c", f"{lines}\nraise SystemExit('the reason')"]
    broken = sys.modules["setup.stages"].Stage(lambda: [command], always=True)
    monkeypatch.setattr(suite, "STAGES", suite.STAGES | {"broken": broken})
    assert suite.main(["broken", "quick"]) == 1
    shown, _, again = capfd.readouterr().out.partition("The last lines of what failed:")
    assert "line 0\n" in shown
    assert "line 0\n" not in again
    assert f"line {2 * suite.LAST - 1}\nthe reason\n" in again


def test_what_one_command_has_compiled_the_next_one_finds(
    suite: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(suite, "STATE", tmp_path / "state")
    (tmp_path / "imported.py").touch()
    assert suite.run([sys.executable, "-c", "import imported"], sys.stdout).end == ""
    assert [one.name.partition(".")[0] for one in (tmp_path / "state").rglob("imported*.pyc")]
    assert not list(tmp_path.glob("__pycache__"))


def test_what_a_command_left_running_does_not_hold_the_suite(suite: ModuleType) -> None:
    left = "import subprocess; print(subprocess.Popen(['sleep', '600']).pid, flush=True)"
    printed = suite.run([sys.executable, "-c", f"{left}\nraise SystemExit(1)"], sys.stdout).end
    os.kill(int(printed.splitlines()[-1]), signal.SIGKILL)  # it is still there


def test_in_a_new_clone_the_tests_are_compiled_once_before_several_processes_do_so(
    suite: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from setup import stages

    monkeypatch.setattr(stages, "ROOT", tmp_path)
    monkeypatch.setattr(stages, "STATE", tmp_path / ".takt")
    first, *others = stages.python()
    assert "--collect-only" in first
    (tmp_path / "src" / "takt" / "test" / "__pycache__").mkdir(parents=True)
    assert stages.python() == others


def test_thorough_names_each_file_with_a_test_of_its_marker(suite: ModuleType) -> None:
    from setup import stages

    marked = stages.marked("thorough")
    assert len(marked) > 10
    assert {one for one in marked if "mark.thorough" in (SETUP.parent / one).read_text()} < set(
        stages.thorough()[-1]
    )
