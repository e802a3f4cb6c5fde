# SPDX-License-Identifier: Apache-2.0
"""Steps of the set-up at the same time: they wait for each other, and end with each other."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from setup import steps


@pytest.mark.timeout(120)
def test_steps_at_the_same_time_do_not_wait_for_each_others_end(tmp_path: Path) -> None:
    """Each ends only after the other one has begun."""
    wait = "touch {}; while [ ! -e {} ]; do sleep 0.02; done"
    one, other = tmp_path / "one", tmp_path / "other"
    steps.together(
        steps.step(["sh", "-c", wait.format(one, other)], "one", tmp_path / "one.log"),
        steps.step(["sh", "-c", wait.format(other, one)], "other", tmp_path / "other.log"),
    )


def test_what_follows_on_a_step_begins_when_that_one_is_done(tmp_path: Path) -> None:
    log, order = tmp_path / "log", tmp_path / "order"

    def both() -> steps.Steps:
        yield from steps.step(["sh", "-c", f"sleep 0.1; echo first >> {order}"], "first", log)
        yield from steps.step(["sh", "-c", f"echo second >> {order}"], "second", log)

    steps.together(both(), steps.step(["true"], "beside", tmp_path / "beside.log"))
    assert order.read_text().split() == ["first", "second"]


@pytest.mark.timeout(120)
def test_a_step_that_fails_ends_the_others_and_shows_its_own_words(tmp_path: Path) -> None:
    pid_file, own = tmp_path / "pid", tmp_path / "own.log"
    lasting = f"echo of the other; echo $$ > {pid_file}; exec sleep 600"
    failing = f"while [ ! -s {pid_file} ]; do sleep 0.02; done; echo of its own; exit 3"
    with pytest.raises(steps.SetupError) as error:
        steps.together(
            steps.step(["sh", "-c", lasting], "lasting", tmp_path / "other.log"),
            steps.step(["sh", "-c", failing], "failing", own),
        )
    assert "of its own" in str(error.value)
    assert "of the other" not in str(error.value)
    assert str(own) in str(error.value)
    limit = time.monotonic() + 60
    while Path(f"/proc/{pid_file.read_text().strip()}").exists() and time.monotonic() < limit:
        time.sleep(0.02)
    assert not Path(f"/proc/{pid_file.read_text().strip()}").exists()


def test_the_line_of_a_terminal_has_all_that_is_in_work_and_is_no_longer_than_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steps, "DOING", {"one": "one … 1 s", "other": "other … 2 s"})
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((60, 24)))
    assert steps.line_of_all() == f"{steps.AGAIN}  one … 1 s; other … 2 s"
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((11, 24)))
    assert steps.line_of_all() == f"{steps.AGAIN}  one … 1 "
