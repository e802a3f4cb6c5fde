# SPDX-License-Identifier: Apache-2.0
"""``takt compare`` as a script calls it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pyarrow import parquet
from synthetic_runs import Point, write_document, write_run

from takt.cli.main import main
from takt.measure.results import store
from takt.measure.results.model import Note, Status

Call = Callable[..., tuple[int, str, str]]

POINT = Point("raw", "wakeup", "nanosleep", "other", 58.0)
SLOWER = replace(POINT, median_us=90.0, spike_us=600.0)


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Call:
    """Call the command and return exit code, standard output and standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["compare", *map(str, arguments)])
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    for name, points in (("a", [POINT]), ("same", [POINT]), ("slower", [SLOWER])):
        write_run(tmp_path / name, points, 3, 1000, seed=len(name))
    return call


def test_equal_runs_give_0(run: Call, tmp_path: Path) -> None:
    code, out, _ = run(tmp_path / "a", tmp_path / "same")
    assert code == 0
    assert "No cell regressed by more than 10 %" in out


def test_a_regression_gives_1_and_names_the_cell(run: Call, tmp_path: Path) -> None:
    code, out, _ = run(tmp_path / "a", tmp_path / "slower")
    assert code == 1
    assert "regressed" in out
    assert "raw-wakeup" in out


def test_a_threshold_above_the_growth_lets_it_pass(run: Call, tmp_path: Path) -> None:
    assert run(tmp_path / "a", tmp_path / "slower", "--threshold", "100%")[0] == 0
    assert run(tmp_path / "a", tmp_path / "slower", "--threshold", "1.0")[0] == 0


def test_json_is_one_document_with_the_promised_keys(run: Call, tmp_path: Path) -> None:
    code, out, _ = run(tmp_path / "a", tmp_path / "slower", "--json")
    document = json.loads(out)
    assert code == 1
    assert document["schema_version"] == 1
    assert document["regressed"] is True
    (cell,) = document["cells"]
    assert cell["key"] == POINT.key
    assert cell["regressed"] is True
    low, high = cell["interval"]["p50"]
    assert 1.1 < low < cell["ratio_p50"] < high
    low, high = cell["interval"]["p99"]
    assert low < cell["ratio_p99"] < high


@pytest.mark.parametrize(
    "wrong",
    [
        ["{a}", "{nowhere}"],
        ["{a}"],
        ["{a}", "{a}", "--threshold", "some"],
        ["{a}", "{a}", "--threshold", "-5%"],
        ["{a}", "{a}", "--confidence", "100"],
        ["{a}", "{a}", "--unknown"],
    ],
)
def test_wrong_use_gives_2_and_a_reason(run: Call, tmp_path: Path, wrong: list[str]) -> None:
    places = {"a": tmp_path / "a", "nowhere": tmp_path / "nowhere"}
    code, out, err = run(*(part.format(**places) for part in wrong))
    assert code == 2
    assert not out
    assert err.strip()


def test_runs_without_a_common_cell_give_2(run: Call, tmp_path: Path) -> None:
    write_run(tmp_path / "other", [replace(POINT, transport="elsewhere")], 1, 600)
    code, _, err = run(tmp_path / "a", tmp_path / "other")
    assert code == 2
    assert "no cell in common" in err


def test_another_schema_gives_2(run: Call, tmp_path: Path) -> None:
    document = tmp_path / "same" / "run.json"
    document.write_text('{"schema_version": 99, "rounds": []}')
    assert run(tmp_path / "a", tmp_path / "same")[0] == 2


def crashed(folder: Path, *repetitions: int, rows: int = 10) -> None:
    """These repetitions of the run died after so many samples."""
    run = store.read(folder)
    for place in repetitions:
        cell = run.cells[place]
        (file,) = (folder / name for name in cell.samples)
        parquet.write_table(parquet.read_table(file).slice(0, rows), file)
        cell.status, cell.error = Status.failed, Note(what="the probe died", why="SIGSEGV")
    write_document(folder, run)


@pytest.mark.parametrize("repetitions", [(0,), (0, 1)])
def test_a_repetition_that_died_early_does_not_hide_that_the_others_are_slower(
    run: Call, tmp_path: Path, repetitions: tuple[int, ...]
) -> None:
    crashed(tmp_path / "slower", *repetitions)
    code, out, err = run(tmp_path / "a", tmp_path / "slower")
    assert code == 1
    assert "regressed" in out
    assert f"{len(repetitions)} of 3 of B have fewer" in err


def test_a_build_that_always_crashes_early_is_a_regression(run: Call, tmp_path: Path) -> None:
    crashed(tmp_path / "same", 0, 1, 2)
    code, out, err = run(tmp_path / "a", tmp_path / "same")
    assert code == 1
    assert "regressed" in out
    assert "counts as a regression" in err
    assert run(tmp_path / "same", tmp_path / "a")[0] == 2  # mended, but nothing to compare with


def test_a_shorter_run_that_did_not_crash_is_none(run: Call, tmp_path: Path) -> None:
    write_run(tmp_path / "short", [POINT], 3, 300, seed=5)
    assert run(tmp_path / "a", tmp_path / "short")[0] == 0


def test_runs_without_samples_cannot_be_compared(run: Call, tmp_path: Path) -> None:
    for file in (tmp_path / "a" / "samples").iterdir():
        file.unlink()
    code, out, err = run(tmp_path / "a", tmp_path / "same")
    assert code == 2
    assert not out
    assert "no cell of the two runs could be compared" in err
    assert "cannot read" in err


def test_an_interval_without_an_end_is_null_in_the_document(run: Call, tmp_path: Path) -> None:
    uneven = replace(POINT, between=1.0)
    write_run(tmp_path / "one", [uneven], 1, 1000)
    write_run(tmp_path / "two", [uneven], 2, 1000)
    arguments = [tmp_path / "one", tmp_path / "two", "--confidence", "99.99"]
    code, out, _ = run(*arguments, "--json")
    assert code == 0
    assert json.loads(out)["cells"][0]["interval"]["p99"][1] is None
    assert run(*arguments)[0] == 0
