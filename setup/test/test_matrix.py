# SPDX-License-Identifier: Apache-2.0
"""``./takt test --matrix``: which systems it tries, what it tells of each, its page."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2]))
from setup.matrix import command, entries, page
from setup.matrix.trial import Failed, LeftOut, Outcome, Trial

PYTHON = "how: {kind: python, version: '3.10', tests: [x]}"
MATRIX = f"""
- {{name: good, system: A good one, {PYTHON}}}
- {{name: bad, system: A bad one, how: {{kind: wheels, distribution: melodic}}}}
- {{name: absent, system: An absent one, how: {{kind: chroot, suite: sarge}}}}
- {{name: later, system: A later one, not_tried: It is not out yet.}}
"""
Run = Callable[..., int]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command over four systems, of which one passes, one fails, and one cannot be tried."""
    file = tmp_path / "matrix.yaml"
    file.write_text(MATRIX)

    def passing(_: object, trial: Trial) -> Outcome:
        trial.call("a step", [sys.executable, "-c", "print('it ran')"])
        return Outcome("passed", "all|of it", "3.10.1", 12, 0, 3)

    def failing(_: object, trial: Trial) -> Outcome:
        trial.call("a step", [sys.executable, "-c", "raise SystemExit('error: too old')"])
        raise AssertionError("a step that failed ends the trial")

    def missing(*_: object) -> Outcome:
        raise LeftOut("it needs a machine of its own")

    ways = {"python": passing, "wheels": failing, "chroot": missing}
    monkeypatch.setattr(command, "WAYS", ways)

    def call(*words: str) -> int:
        return command.main(words, file, tmp_path / "matrix", tmp_path / "systems.md")

    return call


def row_of(page: Path, name: str) -> str:
    """Its line."""
    return next(one for one in page.read_text().splitlines() if one.startswith(f"| `{name}`"))


def test_each_ends_in_one_of_three_ways_and_a_failure_stops_none(
    run: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run() == 1
    printed = capfd.readouterr().out
    for end in (
        "=== good: passed",
        "=== bad: failed: a step: exit code 1",
        "=== absent: left out: it needs a machine of its own",
        "=== later: left out: It is not out yet.",
        "error: too old",
        "failed: bad",
    ):
        assert end in printed
    assert "it ran" in (tmp_path / "matrix" / "good" / "log.txt").read_text()


def test_where_none_failed_it_ends_well(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("good", "absent", "later") == 0
    assert "bad" not in capfd.readouterr().out


def test_a_name_that_is_not_there_is_wrong_use_and_the_known_ones_are_reported(
    run: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run("good", "better") == 2
    printed = capfd.readouterr().err
    assert "no system 'better' in the matrix; there are: good, bad, absent, later" in printed
    assert not (tmp_path / "systems.md").exists()


def test_a_list_tries_nothing(run: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("--list") == 0
    printed = capfd.readouterr().out.splitlines()
    assert [one.split()[0] for one in printed] == ["good", "bad", "absent", "later"]
    assert printed[1].endswith("A check on the wheels of a ROS 2, then stages of the tests.")
    assert printed[3].endswith("Not tried: It is not out yet.")
    assert not (tmp_path / "matrix").exists()


def test_the_page_shows_the_result_of_each(run: Run, tmp_path: Path) -> None:
    run()
    record = tmp_path / "systems.md"
    good, bad = row_of(record, "good"), row_of(record, "bad")
    for part in ("A good one", "passed", r"all\|of it; 12 tests passed, 3 left out", "3.10.1"):
        assert part in good
    assert "failed" in bad
    assert "left out | it needs a machine of its own" in row_of(record, "absent")
    assert "| A later one | It is not out yet. |" in record.read_text()


def test_what_is_not_tried_this_time_keeps_its_row(run: Run, tmp_path: Path) -> None:
    record = tmp_path / "systems.md"
    assert run("good") == 0
    assert page.NEVER in row_of(record, "bad")
    old = row_of(record, "good").replace("passed", "passed long ago")
    record.write_text(record.read_text().replace(row_of(record, "good"), old))
    assert run("bad") == 1
    assert row_of(record, "good") == old
    assert "failed" in row_of(record, "bad")
    assert run("good") == 0
    assert "long ago" not in row_of(record, "good")


def test_what_cannot_be_tried_here_keeps_the_record_of_elsewhere(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("good")
    record = tmp_path / "systems.md"
    row = row_of(record, "good")
    monkeypatch.setitem(command.WAYS, "python", command.WAYS["chroot"])
    assert run("good") == 0
    assert row_of(record, "good") == row
    results = json.loads((tmp_path / "matrix" / "results.json").read_text())["systems"]
    assert results["good"]["result"] == "left out"


def test_results_are_kept_for_scripts(run: Run, tmp_path: Path) -> None:
    results = tmp_path / "matrix" / "results.json"
    results.parent.mkdir()
    results.write_text("damaged")
    run("good")
    run("bad")
    systems = json.loads(results.read_text())["systems"]
    assert (systems["good"]["passed"], systems["good"]["excluded"]) == (12, 3)
    assert systems["bad"]["result"] == "failed"
    assert {"date", "commit", "seconds", "version"} <= systems["bad"].keys()


def test_a_step_that_cannot_start_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="No such file"):
        Trial(tmp_path / "trial").call("a step", [tmp_path / "absent"])


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("- {name: x, system: X}", "how it is tried or why"),
        (f"- {{name: x, system: X, {PYTHON}, not_tried: No.}}", "how it is tried or why"),
        ("- {name: x, system: X, not_tried: No.}\n" * 2, "twice: x"),
        ("- {name: x, system: X, how: {kind: magic}}", "magic"),
        ("- {name: x, system: X, how: {kind: wheels, distribution: x, run: y}}", "run"),
        ("- {name: ../x, system: X, not_tried: No.}", "name"),
        ("- {name: x, system: X, not_tried: 'a | b'}", "not_tried"),
        ("- [", "while parsing"),
        ("[]", "entries"),
    ],
)
def test_a_mistake_in_the_file_is_reported(
    run: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str, printed: str
) -> None:
    (tmp_path / "matrix.yaml").write_text(text)
    assert run() == 2
    assert printed in capfd.readouterr().err


def test_the_suite_hands_it_on(capfd: pytest.CaptureFixture[str]) -> None:
    file = Path(__file__).resolve().parents[1] / "test.py"
    assert runpy.run_path(str(file))["main"](["--matrix", "--list"]) == 0
    names = [one.split()[0] for one in capfd.readouterr().out.splitlines()]
    assert names == [one.name for one in entries.read()]


def test_the_record_is_of_the_matrix(tmp_path: Path) -> None:
    """Nothing that stands in the page is of a system that was renamed or taken away."""
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.text(entries.read(), {}, page.rows(text)) == text


def test_every_way_is_known() -> None:
    kinds = {one.how.kind for one in entries.read() if one.how}
    assert kinds == set(command.WAYS)
