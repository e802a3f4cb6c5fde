# SPDX-License-Identifier: Apache-2.0
"""The history: runs add up to what all their samples together say, each of them once."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import takt_core
from synthetic_cells import cell_of, records_of, synthetic_run

from takt.cli.main import main
from takt.errors import TaktError
from takt.measure.history.accumulate import accumulate
from takt.measure.history.page import runs_chart, write_history
from takt.measure.history.show import sentences
from takt.measure.history.store import History, find
from takt.measure.results import bundle, store
from takt.measure.results.model import Run, Status
from takt.measure.results.point import SUPPLY
from takt.pages.pictures import long_term
from takt.statistics.judgement import Outcome

COUNT = 4000
STARTED = datetime(2026, 3, 1, tzinfo=timezone.utc)


def late_us(number: int) -> np.ndarray:
    return 50 + np.random.default_rng(number).gamma(3, 15, COUNT)


def run_in(folder: Path, number: int, machine: str = "6.1-rt", **asked: Any) -> Path:
    """A run of one cell, made by the tool's own path."""
    folder.mkdir(parents=True)
    late = late_us(number)
    cell = cell_of(folder, [records_of(late, 1000.0, late)], **asked)
    cell.started = STARTED + timedelta(hours=number)
    run = synthetic_run("x", [cell], started=cell.started, machine={"kernel": machine})
    store.write(run, folder)
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    return [run_in(tmp_path / "results" / f"run{number}", number) for number in range(3)]


def added(history: History, folders: list[Path]) -> int:
    return sum(history.add(store.read(folder), folder) for folder in folders)


def test_runs_of_one_configuration_add_up(tmp_path: Path, runs: list[Path]) -> None:
    with History(tmp_path / "h.sqlite") as history:
        assert added(history, runs) == 3
        (configuration,) = history.configurations()
        found = accumulate(configuration, history.entries(configuration), deadline_us=150.0)
    every = np.concatenate([late_us(number)[1:] for number in range(3)])  # the first stays apart
    every = np.round(every * 1000) / 1000
    assert (found.count, len(found.runs)) == (len(every), 3)
    assert found.mean_us == pytest.approx(every.mean(), abs=1e-3)
    assert found.stddev_us == pytest.approx(every.std(), abs=1e-3)
    assert found.max_us == pytest.approx(every.max(), abs=2e-3)
    ranked = np.sort(every)
    for name, percent in (("p50_us", 50), ("p99_us", 99), ("p999_us", 99.9)):
        exact = ranked[int(np.ceil(percent / 100 * len(ranked))) - 1]
        assert 0 <= exact - found.percentiles_us[name] < 1.01
    exceeded = int((every >= 150).sum())
    assert abs(found.exceedance.exceeded - exceeded) <= 1
    assert found.exceedance.upper_bound == takt_core.exceedance(
        found.exceedance.exceeded, len(every), 0.95
    )[1]  # fmt: skip


def test_a_supply_is_described_unless_a_deadline_is_given(tmp_path: Path) -> None:
    folder = run_in(tmp_path / "run", 0, kind=SUPPLY)
    with History(tmp_path / "h.sqlite") as history:
        added(history, [folder])
        (configuration,) = history.configurations()
        found = accumulate(configuration, history.entries(configuration))
        judged = accumulate(configuration, history.entries(configuration), deadline_us=60.0)
    assert found.decision.outcome is Outcome.meets
    assert sentences(found)[0] == "meets: described, not judged: a supply has no deadline"
    assert not judged.described
    assert "reached 60" in sentences(judged)[0]


def test_a_run_counts_once_and_outlives_its_folder(tmp_path: Path, runs: list[Path]) -> None:
    file = tmp_path / "h.sqlite"
    with History(file) as history:
        assert (added(history, runs), added(history, runs)) == (3, 0)
    shutil.rmtree(tmp_path / "results")
    with History(file) as history:
        (configuration,) = history.configurations()
        assert (configuration.runs, configuration.count) == (3, 3 * (COUNT - 1))


def test_other_points_and_other_machines_stay_apart(tmp_path: Path, runs: list[Path]) -> None:
    runs.append(run_in(tmp_path / "results" / "a", 7, machine="6.12"))
    runs.append(run_in(tmp_path / "results" / "b", 8, scheduling="fifo"))
    assert sorted(find([tmp_path / "results"])) == sorted(runs)
    with History(tmp_path / "h.sqlite") as history:
        added(history, runs)
        assert [one.runs for one in history.configurations()] == [3, 1, 1]
        assert history.configurations("pubsub") == []


def test_a_run_whose_policy_was_refused_is_another_configuration(
    tmp_path: Path, runs: list[Path]
) -> None:
    got = {"policy": "other", "priority": 0}
    runs.append(run_in(tmp_path / "results" / "refused", 7))
    document = store.read(runs[-1])
    document.cells[0].key = store.read(runs[0]).cells[0].key
    with History(tmp_path / "h.sqlite") as history:
        added(history, runs[:-1])
        history.add(document, runs[-1])  # as a store of before has it: by what was asked for
        document.cells[0].probes[0].granted = got
        assert history.add(document, runs[-1]) == 1
        found = {one.key: one.runs for one in history.configurations()}
    key = document.cells[0].key
    assert found == {key: 3, f"{key} (requested: rr80)": 1}


def test_the_page_and_the_pictures_show_every_run(tmp_path: Path, runs: list[Path]) -> None:
    with History(tmp_path / "h.sqlite") as history:
        added(history, runs)
        (configuration,) = history.configurations()
        found = accumulate(configuration, history.entries(configuration))
    chart = runs_chart(found)
    assert [sum(one["y"]) for one in chart["series"]] == [COUNT - 1] * 3
    assert all(0 <= tick["bin"] <= chart["bins"] for tick in chart["ticks"])
    assert len(chart["ticks"]) >= 3
    page = write_history(tmp_path / "h.html", [found]).read_text(encoding="utf-8")
    assert configuration.key in page
    assert "http" not in page.replace("http-equiv", "").split("<script")[0]
    for file in long_term(tmp_path / "picture", "x", found.runs, "latency (µs)"):
        assert file.stat().st_size > 5000


def test_the_command_reports_all_of_it(
    tmp_path: Path, runs: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["history", str(tmp_path / "results"), "--store", str(tmp_path / "h.sqlite")]
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--deadline", "400us", "--json"])
    assert ended.value.code == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema_version"], document["added"]) == (1, 3)
    (one,) = document["configurations"]
    assert one["exceedance"]["deadline_us"] == 400.0
    assert one["tail"]["p_value"] >= 0.05 or "refused" in one["tail"]
    assert Path(document["page"]).exists()


def test_what_several_machines_have_is_one_table(
    tmp_path: Path, runs: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    files = [bundle.write(run) for run in runs]
    different = bundle.write(run_in(tmp_path / "results" / "fifo", 8, "6.12", scheduling="fifo"))
    kept = tmp_path / "h.sqlite"

    def shown(*added: Path) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["history", *map(str, added), "--store", str(kept)])
        assert ended.value.code == 0
        return capsys.readouterr().out

    assert "on several machines" not in shown(*files, different)
    other = bundle.write(run_in(tmp_path / "results" / "other", 7, "6.12"))
    lines = shown(other).split("\n")
    (title,) = [number for number, line in enumerate(lines) if "on several machines" in line]
    rows = [line.split()[:3] for line in lines[title + 2 : title + 4]]
    assert rows == [["6.1-rt", "rcl", "3"], ["6.12", "rcl", "1"]]
    said = [line.partition(":")[0] for line in lines if "probability" in line]
    machines = {one.partition(" on ")[2] for one in said}
    assert machines == {"", "6.1-rt", "6.12"}  # the third configuration is of one machine
    page = kept.with_suffix(".html").read_text(encoding="utf-8")
    section = page.split("Several machines")[1].split("</section>")[0]
    assert section.count("<td>6.1-rt</td>") == section.count("<td>6.12</td>") == 1


def late_sender(folder: Path) -> Run:
    """A round trip of 0.1 ms whose sender woke 12 ms late, every second time."""
    folder.mkdir()
    woke = np.where(np.arange(COUNT) % 2, 12_000.0, 10.0)
    records = records_of(woke + 100.0, 20_000.0, woke)
    asked = {"kind": "pingpong", "transport": "udp", "deadline_us": 10_000.0}
    cell = cell_of(folder, [records], **asked)
    cell.started = STARTED
    return synthetic_run("x", [cell], started=STARTED)


def test_a_deadline_is_judged_on_the_response_as_in_the_run(tmp_path: Path) -> None:
    run = late_sender(tmp_path / "run")
    statistics = run.cells[0].statistics
    assert statistics is not None
    assert statistics.exceedance.exceeded == COUNT // 2
    with History(tmp_path / "h.sqlite") as history:
        history.add(run, tmp_path / "run")
        (configuration,) = history.configurations()
        found = accumulate(configuration, history.entries(configuration))
        other = accumulate(configuration, history.entries(configuration), deadline_us=20.0)
    assert found.exceedance == statistics.exceedance
    assert "(response) reached" in sentences(found)[0]
    assert (other.of, other.document()["exceedance"]["of"]) == ("latency", "latency")
    assert "(latency) reached" in sentences(other)[0]


def test_a_store_of_before_opens_and_says_what_its_deadline_is_judged_on(tmp_path: Path) -> None:
    run, file = late_sender(tmp_path / "run"), tmp_path / "h.sqlite"
    with History(file) as history:
        history.add(run, tmp_path / "run")
    with contextlib.closing(sqlite3.connect(file)) as database:
        for column in ("exceeded", "responses"):
            database.execute(f"ALTER TABLE cells DROP COLUMN {column}")
        database.commit()
    run.cells[0].started = STARTED + timedelta(hours=1)
    with History(file) as history:
        assert history.add(run, tmp_path / "run") == 1
        (configuration,) = history.configurations()
        found = accumulate(configuration, history.entries(configuration))
    assert (len(found.runs), found.of) == (2, "latency")


def test_pictures_of_the_same_on_two_machines_are_two(
    tmp_path: Path, runs: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    run_in(tmp_path / "results" / "other", 7, machine="6.12")
    store_file = str(tmp_path / "h.sqlite")
    with pytest.raises(SystemExit):
        main(["history", str(tmp_path / "results"), "--store", store_file, "--plot", "--json"])
    document = json.loads(capsys.readouterr().out)
    pictures = document["pictures"]
    assert len(document["configurations"]) == 2
    assert len(set(pictures)) == len(pictures) == 4
    assert all(Path(one).exists() for one in pictures)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["/nowhere/at/all"], "no runs found"),
        (["--deadline", "soon"], "is not a duration"),
        (["--store", "/dev/null/x"], "this is not a history"),
    ],
)
def test_wrong_use_is_reported(
    arguments: list[str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["history", *arguments])
    assert ended.value.code == 2
    assert expected in capsys.readouterr().err


def test_runs_of_which_none_can_be_read_are_refused_and_one_of_several_is_skipped(
    tmp_path: Path, runs: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = bundle.write(runs[0])
    damaged.write_bytes(damaged.read_bytes()[: damaged.stat().st_size // 2])
    for added, code in (([damaged], 2), ([damaged, runs[1]], 0)):
        with pytest.raises(SystemExit) as ended:
            main(["history", *map(str, added), "--store", str(tmp_path / "h.sqlite")])
        assert ended.value.code == code
        assert "the bundle is damaged" in capsys.readouterr().err


def test_a_file_that_is_no_history_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "h.sqlite"
    file.write_text("this is no database, and long enough to be looked at\n" * 100)
    with pytest.raises(TaktError, match="this is not a history"):
        History(file)


def test_what_is_in_no_number_is_reported(
    tmp_path: Path, runs: list[Path], capfd: pytest.CaptureFixture[str]
) -> None:
    run = store.read(runs[0])
    failed = run.cells[0].model_copy(update={"id": "failed", "status": Status.failed})
    run.cells[0].sent -= 40  # never sent, so that nothing was lost
    run.cells[0].samples_requested = run.cells[0].count
    run.cells.append(failed)
    store.write(run, runs[0])
    command = ["history", str(runs[0]), "--store", str(tmp_path / "h.sqlite")]
    with pytest.raises(SystemExit):
        main(command)
    printed = capfd.readouterr()
    assert "(40 missing, excluded" in printed.out
    assert "skipped: failed: fails: 1 of 1 repetitions failed" in printed.err
    with pytest.raises(SystemExit):
        main([*command[:1], str(runs[1]), *command[2:]])
    assert "skipped" not in capfd.readouterr().err


def test_what_a_stopped_run_has_still_to_measure_is_one_line(
    tmp_path: Path, runs: list[Path], capfd: pytest.CaptureFixture[str]
) -> None:
    run = store.read(runs[0])
    complete = len(run.cells)
    left = {"status": Status.pending, "statistics": None, "count": 0}
    run.cells += [run.cells[0].model_copy(update={"id": f"left-{n}", **left}) for n in range(3)]
    store.write(run, runs[0])
    with pytest.raises(SystemExit) as ended:
        main(["history", str(runs[0]), "--store", str(tmp_path / "h.sqlite")])
    assert ended.value.code == 0
    said = [one for one in capfd.readouterr().err.splitlines() if "skipped" in one]
    of = complete + 3
    assert said == [f"skipped: {runs[0]}: 3 of {of} cells are not measured to the end"]


def test_times_of_virtual_machines_are_not_put_beside_times_of_machines(
    tmp_path: Path, runs: list[Path], capfd: pytest.CaptureFixture[str]
) -> None:
    run = store.read(runs[0])
    run.machine["time"] = "instruction time, one virtual CPU"
    store.write(run, runs[0])
    for added, code in (([runs[0]], 2), (runs[:2], 0)):
        with pytest.raises(SystemExit) as ended:
            main(["history", *map(str, added), "--store", str(tmp_path / "h.sqlite")])
        assert ended.value.code == code
        assert f"{runs[0]}: its times are instruction time" in capfd.readouterr().err
