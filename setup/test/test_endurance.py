# SPDX-License-Identifier: Apache-2.0
"""What runs for hours does so in pieces: it goes on where it was, and a failure ends it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from setup import endurance, fuzz, lines, sanitized


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of its own, with pieces of 300 s that nobody waits for."""
    monkeypatch.setattr(endurance, "LOG", tmp_path / "state" / "endurance.jsonl")
    clock = iter(range(0, 10**6, 300))
    monkeypatch.setattr(endurance, "monotonic", lambda: next(clock))
    monkeypatch.setattr(endurance, "_commit", lambda: "abc")
    return tmp_path / "state" / "endurance.jsonl"


def ending(code: int, asked: list[int]) -> None:
    """Makes a piece of `thread` end with this exit code; ``asked``: for how long."""

    def part(seconds: int, seed: int) -> sanitized.Part:
        asked.append(seconds)
        return sanitized.Part([], [[sys.executable, "-c", f"raise SystemExit({code})"]])

    endurance.SUBJECTS["thread"] = part


def run(monkeypatch: pytest.MonkeyPatch, hours: str) -> int:
    monkeypatch.setattr(sys, "argv", ["endurance", "thread", "--hours", hours])
    return endurance.main()


def test_it_goes_on_where_it_was(
    log: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(endurance, "SUBJECTS", dict(endurance.SUBJECTS))
    asked: list[int] = []
    ending(0, asked)
    assert run(monkeypatch, "0.25") == 0
    assert asked[1:] == [600, 600, 301]  # behind what is built
    with log.open("a") as file:
        file.write('{"subject": "thre')  # killed as it was written
    assert run(monkeypatch, "0.3") == 0
    assert asked[5:] == [181]
    assert len(lines.read(log)) == 4
    said = capfd.readouterr().out
    assert said.splitlines()[-1] == "thread of abc: 0.33 h in 4 pieces, 0 failed"


def test_a_failure_ends_it_and_its_seed_is_printed(
    log: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(endurance, "SUBJECTS", dict(endurance.SUBJECTS))
    ending(3, [])
    assert run(monkeypatch, "1") == 3
    (failed,) = endurance.pieces("thread", "abc")
    assert f"1 failed (seeds {failed['seed']})" in capfd.readouterr().out
    assert endurance.pieces("thread", "another") == []


@pytest.mark.parametrize("subject", ["kills", "readers", "parsers"])
def test_what_they_run_is_there(
    subject: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "builds", lambda: [["built"]])
    monkeypatch.setattr(fuzz, "NEW", tmp_path)
    (first, *_) = endurance.SUBJECTS[subject](600, 7).tests
    if subject == "parsers":
        assert {"-max_total_time=300", "-seed=7"} <= set(first)
    else:
        assert "TAKT_TEST_SEED=7" in first
        assert Path(first[-1]).is_file()
