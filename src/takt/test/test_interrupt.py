# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C at any moment: no traceback, no fault, and the exit code that shells give it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from takt.cli import interrupt
from takt.cli.ending import ending

ROOT = Path(__file__).resolve().parents[3]
LAST_S = 1.5  # later it is no start any more


@pytest.fixture
def launcher(tmp_path: Path) -> Path:
    """The launcher of a source tree that is set up: this one, on the Python that runs the tests."""
    (tmp_path / "takt").write_bytes((ROOT / "takt").read_bytes())
    for folder in ("setup", "src", ".takt/venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "src" / "takt").symlink_to(ROOT / "src" / "takt")
    python = tmp_path / ".takt" / "venv" / "bin" / "python"
    python.symlink_to(sys.executable)
    (tmp_path / ".takt" / "ready").write_text(f"{tmp_path} wheels tool\n")
    return tmp_path / "takt"


def interrupted(launcher: Path, after_s: float) -> tuple[float, int, str]:
    """How long it was left alone, and how it ended with what it said."""
    chosen = ("ROS_DISTRO", "TAKT_ROS")
    environment = {name: text for name, text in os.environ.items() if name not in chosen}
    process = subprocess.Popen(
        ["bash", launcher, "doctor"],
        env=environment | {"PYTHONPATH": ":".join(sys.path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # as a terminal does: one group of its own
    )
    time.sleep(after_s)
    os.killpg(process.pid, signal.SIGINT)  # a zombie at worst: it was not waited for
    said, _ = process.communicate(timeout=300)
    return after_s, process.returncode, said


def test_an_interrupt_at_any_moment_of_a_start_ends_it_without_a_traceback(launcher: Path) -> None:
    moments = random.Random(1)
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(interrupted, launcher, moments.uniform(0, LAST_S)) for _ in range(24)]
        for after_s, code, said in (run.result() for run in runs):
            printed = f"after {after_s:.3f} s, exit code {code}: {said[-2000:]}"
            assert "Traceback" not in said, printed
            assert "bug in Takt" not in said, printed
            assert "ignored" not in said, printed
            # Bash had not begun yet, or all was said already.
            assert code in {130, -signal.SIGINT} or " good." in said, printed


def test_an_interrupt_that_a_library_made_another_error_of_is_no_fault() -> None:
    def wrapped() -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise RuntimeError("Error calling __set_name__") from error

    with pytest.raises(SystemExit) as ended, ending(["doctor"]):
        wrapped()
    assert ended.value.code == interrupt.CODE


def test_an_interrupt_of_which_a_library_keeps_only_the_name_is_no_fault() -> None:
    # As pydantic_core has it while it builds a model that needs a default.
    with pytest.raises(SystemExit) as ended, ending(["doctor"]):
        raise RuntimeError("Error building `default` serializer:\n  KeyboardInterrupt: ")
    assert ended.value.code == interrupt.CODE


def test_an_interrupt_in_a_destructor_is_not_lost() -> None:
    script = (
        "import os, signal, time\n"
        "from takt.cli import interrupt\n"
        "interrupt.ends_at_once(); interrupt.is_raised()\n"
        "class Slow:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        for _ in range(1000): pass\n"
        "try:\n"
        "    Slow()\n"
        "    time.sleep(600)\n"
        "except KeyboardInterrupt:\n"
        "    print('told')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "told\n", "")


def test_who_is_started_to_ignore_interrupts_goes_on() -> None:
    script = (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from takt.cli import interrupt\n"
        "interrupt.ends_at_once(); interrupt.is_raised(); signal.raise_signal(signal.SIGINT)\n"
    )
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    assert subprocess.run([sys.executable, "-c", script], env=environment).returncode == 0
