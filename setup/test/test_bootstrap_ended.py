# SPDX-License-Identifier: Apache-2.0
"""A set-up that is interrupted, killed or started twice: nothing goes on that nobody waits for."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

SETUP = Path(__file__).resolve().parent.parent


def test_a_set_up_ends_with_its_launcher(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    script = tmp_path / "setup" / "bootstrap.py"
    script.parent.mkdir()
    content = (SETUP / "bootstrap.py").read_text()
    root = "ROOT = Path(__file__).resolve().parent.parent"
    assert root in content
    # Its own, with one long step instead of all.
    content = content.replace(root, f"ROOT = Path({str(SETUP.parent)!r})").replace(
        'LOG = STATE / "setup.log"', f"STATE = Path({str(tmp_path)!r}); LOG = STATE / 'setup.log'"
    )
    step = f"sleep 600 & echo $! > {pid_file}; wait"
    main = 'if __name__ == "__main__":'
    instead = f'set_up = lambda _: run(["sh", "-c", {step!r}], "a long step")'
    content = content.replace(main, f"{instead}\n{main}")
    script.write_text(content)
    launch = f'"{sys.executable}" "{script}" x $$; true'
    launcher = subprocess.Popen(["bash", "-c", launch], stderr=subprocess.DEVNULL)
    wait_for(pid_file, launcher)
    launcher.kill()
    launcher.wait()
    assert ends(int(pid_file.read_text()))


def test_a_package_whose_configuration_was_interrupted_is_configured_again(
    bootstrap: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished, unfinished = (bootstrap.STATE / "build" / name for name in ("one", "other"))
    for folder in (finished, unfinished):
        folder.mkdir(parents=True)
        (folder / "CMakeCache.txt").touch()
    (finished / "build.ninja").touch()
    monkeypatch.setattr(bootstrap, "output", lambda _: "")
    monkeypatch.setattr(bootstrap, "run", lambda *_, **__: None)
    bootstrap.build("dev", None)
    assert (finished / "CMakeCache.txt").exists()
    assert not (unfinished / "CMakeCache.txt").exists()


def test_an_interrupt_ends_the_step_in_work_and_all_its_children(tmp_path: Path) -> None:
    pid_file, waits = tmp_path / "pid", tmp_path / "waits"
    script = textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {str(SETUP)!r})
        import bootstrap
        from pathlib import Path
        from setup import steps
        class Started(steps.Process):  # an interrupt while it starts is another matter
            def wait(self, *arguments, **options):
                Path({str(waits)!r}).touch()
                return super().wait(*arguments, **options)
        steps.Process = Started
        bootstrap.LOG = Path({str(tmp_path / "log")!r})
        bootstrap.run(["sh", "-c", "sleep 600 & echo $! > {pid_file}; wait"], "a long step")
    """)
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    while not waits.exists() or not pid_file.exists() or not pid_file.read_text():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=150) != 0
    assert ends(int(pid_file.read_text()))


def test_a_terminal_that_closes_while_the_launcher_dies_is_one_interrupt(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    script = textwrap.dedent(f"""
        import sys, time
        sys.path.insert(0, {str(SETUP)!r})
        import bootstrap
        from pathlib import Path
        bootstrap.STATE = Path({str(tmp_path)!r})
        def ending(_):
            try:
                Path({str(begun)!r}).touch()
                time.sleep(600)
            finally:  # as a step that is ended
                Path({str(begun)!r}).unlink()
                while not Path({str(begun)!r}).exists():
                    time.sleep(0.01)
        bootstrap.set_up = ending
        sys.exit(bootstrap.main("x"))
    """)
    command = [sys.executable, "-c", script]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for number, there in ((signal.SIGTERM, True), (signal.SIGHUP, False)):
        while begun.exists() != there:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
    begun.touch()
    _, printed = process.communicate(timeout=150)
    assert (process.returncode, printed) == (
        130,
        "takt: set-up interrupted; the next ./takt goes on from here\n",
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
def test_a_set_up_that_ends_ends_as_a_whole(tmp_path: Path, number: signal.Signals) -> None:
    pid_file = tmp_path / "pid"
    script = textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {str(SETUP)!r})
        import bootstrap
        from pathlib import Path
        bootstrap.STATE = Path({str(tmp_path)!r})
        bootstrap.LOG = bootstrap.STATE / "log"
        command = ["sh", "-c", "(sleep 600 & echo $! > {pid_file}; wait); true"]
        bootstrap.set_up = lambda _: bootstrap.run(command, "a long step")
        sys.exit(bootstrap.main("x"))
    """)
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    wait_for(pid_file, process)
    process.send_signal(number)
    assert process.wait(timeout=150) == (-number if number == signal.SIGKILL else 130)
    assert ends(int(pid_file.read_text()))


def test_the_lock_is_held_by_who_is_still_at_work(tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {str(SETUP)!r})
        import bootstrap
        from pathlib import Path
        bootstrap.STATE = Path({str(tmp_path)!r})
        bootstrap.LOG = bootstrap.STATE / "log"
        command = ["sh", "-c", "echo $$ > {tmp_path / "pid"}; exec sleep 600"]
        bootstrap.set_up = lambda _: bootstrap.run(command, "a package manager", whole=True)
        bootstrap.main("x")
    """)
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    pid = int((tmp_path / "pid").read_text())
    try:
        with (tmp_path / "lock").open("w") as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.kill(pid, signal.SIGKILL)


def test_a_second_set_up_waits_for_the_first(tmp_path: Path) -> None:
    log, go, said = tmp_path / "log", tmp_path / "go", tmp_path / "said"
    script = textwrap.dedent(f"""
        import sys, time
        sys.path.insert(0, {str(SETUP)!r})
        import bootstrap
        from pathlib import Path
        bootstrap.STATE = Path({str(tmp_path)!r})
        def set_up(want):
            with Path({str(log)!r}).open("a") as file:
                file.write("in\\n"); file.flush()
                while not Path({str(go)!r}).exists():
                    time.sleep(0.01)
                file.write("out\\n")
        bootstrap.set_up = set_up
        sys.exit(bootstrap.main("x"))
    """)
    command = [sys.executable, "-c", script]
    first = subprocess.Popen(command)
    wait_for(log, first)
    with said.open("wb") as file:
        second = subprocess.Popen(command, stderr=file)
    try:
        while b"waiting" not in said.read_bytes():
            assert second.poll() is None
            time.sleep(0.01)
        assert log.read_text().split() == ["in"]
    finally:
        go.touch()
    assert [process.wait(timeout=150) for process in (first, second)] == [0, 0]
    assert log.read_text().split() == ["in", "out"] * 2


def wait_for(printed: Path, process: subprocess.Popen[bytes]) -> None:
    """Until something stands in the file, a child's number mostly."""
    while not printed.exists() or not printed.read_text():
        assert process.poll() is None
        time.sleep(0.01)


def ends(pid: int) -> bool:
    """Within as long as a busy machine may take."""
    limit = time.monotonic() + 150
    while alive(pid) and time.monotonic() < limit:
        time.sleep(0.01)
    return not alive(pid)


def alive(pid: int) -> bool:
    """A zombie that nobody reaps (its parent is gone) has ended all the same."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
