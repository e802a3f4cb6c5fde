# SPDX-License-Identifier: Apache-2.0
"""takt spin: what it refuses, what it preloads, and what it says of a command."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from takt.errors import Failure, TaktError
from takt.network import stacks
from takt.processes.preload import preloaded
from takt.schedule.spin.run import run

TIMING = "callbacks:\n  - {node: /guard, priority: 40}\n"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library in the place of that which is preloaded."""
    source, shared = tmp_path / "library.c", tmp_path / "libtakt_spin.so"
    source.write_text("int nothing;\n", encoding="utf-8")
    compiler = shutil.which("cc") or pytest.skip("there is no compiler")
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", shared], check=True)

    def find(_name: str, _fix: str) -> Path:
        return shared

    monkeypatch.setattr(stacks, "program", find)
    return shared


@pytest.fixture
def timing(tmp_path: Path) -> Path:
    file = tmp_path / "robot.timing.yaml"
    file.write_text(TIMING, encoding="utf-8")
    return file


def tool(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "takt", "spin", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_nothing_to_do_is_refused_with_both_ways_out() -> None:
    done = tool("--", "true")
    assert done.returncode == 2
    assert "--executor takt" in done.stderr
    assert "--timing FILE" in done.stderr


def test_another_executor_is_refused() -> None:
    done = tool("--executor", "stock", "--", "true")
    assert done.returncode == 2
    assert "takt" in done.stderr


def test_a_faulty_timing_file_is_refused_before_the_start(tmp_path: Path) -> None:
    file, mark = tmp_path / "robot.timing.yaml", tmp_path / "started"
    file.write_text("callbacks:\n  - {node: /guard, prority: 40}\n", encoding="utf-8")
    done = tool("--timing", file, "--", "touch", mark)
    assert done.returncode == 2
    assert f"{file}:2" in done.stderr
    assert not mark.exists()


def test_a_library_that_is_not_built_is_named_with_the_fix(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(stacks, "prefixes", lambda: [tmp_path])
    with pytest.raises(Failure, match=r"libtakt_spin\.so is not installed") as caught:
        run(["true"], "takt", None)
    assert "source a ROS 2 installation" in str(caught.value)


def test_programs_into_which_nothing_can_be_preloaded_are_refused(tmp_path: Path) -> None:
    with_rights = tmp_path / "with_rights"
    shutil.copy(shutil.which("true") or "/bin/true", with_rights)
    with_rights.chmod(0o4755)
    with pytest.raises(TaktError, match=r"cannot spin this program.*ignores LD_PRELOAD"):
        run([str(with_rights)], "takt", None)
    with pytest.raises(TaktError, match="no such program"):
        run(["no-such-program"], "takt", None)


def environment_of(
    capfd: pytest.CaptureFixture[str], executor: str | None, file: Path | None
) -> Any:
    words = "import json, os; print(json.dumps(dict(os.environ)))"
    assert run([sys.executable, "-c", words], executor, file).exit_code == 0
    return json.loads(capfd.readouterr().out)


def test_the_library_comes_first_and_the_others_stay(
    library: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_PRELOAD", "")
    assert environment_of(capfd, "takt", None)["LD_PRELOAD"] == str(library)
    assert preloaded(library, {"LD_PRELOAD": "/other.so"})["LD_PRELOAD"] == f"{library}:/other.so"


@pytest.mark.usefixtures("library")
def test_processes_know_the_executor_the_timing_and_the_report(
    timing: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(timing.parent)
    given = environment_of(capfd, "takt", Path(timing.name))
    assert given["TAKT_SPIN_EXECUTOR"] == "takt"
    assert given["TAKT_SPIN_TIMING"] == str(timing)  # wherever the process works
    assert not Path(given["TAKT_SPIN_REPORT"]).exists()  # it has gone with the run
    given = environment_of(capfd, None, timing)
    assert given["TAKT_SPIN_EXECUTOR"] == ""


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("aside", [False, True])
def test_what_the_command_prints_makes_room_for_a_document(
    capfd: pytest.CaptureFixture[str], aside: bool
) -> None:
    run(["echo", "mine"], "takt", None, aside)
    out, err = capfd.readouterr()
    assert (err if aside else out).splitlines() == ["mine"]
    assert "mine" not in (out if aside else err)


@pytest.mark.usefixtures("library")
def test_a_command_without_ros_2_replaced_nothing() -> None:
    document = run(["true"], "takt", None)
    assert document.executors == []
    assert "no executor was replaced" in document.notes[0]


@pytest.mark.usefixtures("library")
def test_the_exit_code_is_that_of_the_command() -> None:
    assert run(["bash", "-c", "exit 7"], "takt", None).exit_code == 7
    assert run(["bash", "-c", "kill -9 $$"], "takt", None).exit_code == 128 + signal.SIGKILL


@pytest.mark.usefixtures("library")
def test_what_the_processes_report_is_in_the_document(timing: Path) -> None:
    lines = (
        "replaced\\t7\\ttalker\\tMultiThreadedExecutor\\t4\\tfp\\tcores 0 1\\t/a, /b\\n"
        "kept\\t8\\town\\tMine\\tof its own\\n"
        "unmatched\\t7\\ta\\tf:2\\tno node\\nread\\t7\\ta\\tf\\n"
        "unmatched\\t8\\tb\\tf:2\\tno node\\nread\\t8\\tb\\tf\\n"
        "unmatched\\t8\\tb\\tf:3\\tno name\\n"
    )
    document = run(["bash", "-c", f'printf "{lines}" >> "$TAKT_SPIN_REPORT"'], "takt", timing)
    (one,) = document.executors
    assert (one.process, one.executor, one.threads) == (7, "MultiThreadedExecutor", 4)
    assert (one.policy, one.cores, one.nodes) == ("fp", [0, 1], ["/a", "/b"])
    assert document.kept[0].why == "of its own"
    # An entry is of no use where no process has its node.
    assert document.notes == ["f:2: no node"]


def test_a_process_that_is_asked_to_end_ends_the_command(tmp_path: Path) -> None:
    file = tmp_path / "robot.timing.yaml"
    file.write_text("threads:\n  - {name: nobody, priority: 3}\n", encoding="utf-8")
    command = [sys.executable, "-m", "takt", "spin", "--timing", file, "--", "sleep", "60"]
    process = subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not children.read_text(encoding="ascii"):
        assert process.poll() is None
    os.kill(process.pid, signal.SIGTERM)
    words = process.communicate(timeout=300)[1]
    assert process.returncode == 128 + signal.SIGTERM
    assert "no thread has the name 'nobody'" in words
