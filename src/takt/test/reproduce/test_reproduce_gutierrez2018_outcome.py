# SPDX-License-Identifier: Apache-2.0
"""Gutiérrez 2018: recordings become the rows of its tables, its figures and its page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rendering import none_rendered
from synthetic_cells import cell_of, records_of, synthetic_run
from synthetic_round_trips import Installed

from takt.measure.experiment.file import read_experiment
from takt.measure.results.model import Cell, Run, Status
from takt.network.stacks import Capability, Stack
from takt.pages import timeplots
from takt.reproduce import gutierrez2018, page
from takt.reproduce.evidence import Measured
from takt.reproduce.gutierrez2018 import extent, runs, vendors
from takt.reproduce.gutierrez2018.figures import FIGURES, figures
from takt.reproduce.gutierrez2018.quantities import TESTS
from takt.reproduce.gutierrez2018.tables import rows
from takt.reproduce.model import Outcome, Request, Row
from takt.reproduce.published import experiment_file, read_published

COUNT = 300
COLUMNS = {"min_us", "avg_us", "max_us", "missed", "lost", "sent"}
ROMAN = tuple("I,II,III,IV,V,VI,VII,VIII,IX,X,XI,XII,XIII,XIV,XV".split(","))  # noqa: SIM905 - a line


def latencies(test: str, turn: int) -> np.ndarray:
    """About 1 ms; test 1.B misses two deadlines of each run and loses one message."""
    late = 1000.0 + np.arange(COUNT) % 7 + turn
    if test == "1.B":
        late[10], late[20], late[30] = 10_500.0, 25_000.0, np.nan
    return late


def trip(folder: Path, test: str, turn: int) -> Cell:
    return cell_of(
        folder, [records_of(latencies(test, turn), 10_000.0)], turn, label=test, kind="pingpong",
        transport="udp", period_us=10_000.0, deadline_us=10_000.0,
    )  # fmt: skip


def run_of(folder: Path) -> Run:
    (folder / "samples").mkdir(exist_ok=True)
    cells = [trip(folder, test, turn) for test in TESTS for turn in range(2)]
    return synthetic_run("gutierrez2018", cells)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trips")


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    return run_of(folder)


@pytest.fixture(scope="module")
def outcome(run: Run, folder: Path) -> Outcome:
    with none_rendered():
        return gutierrez2018.answers(run, folder, Request(scale=0.005, draws=50))


def of(table: list[Row], name: str, vendor: str = "Fast DDS") -> Row:
    (found,) = [one for one in table if (one.table, one.vendor) == (f"table {name}", vendor)]
    return found


def test_fifteen_tables_have_a_row_of_each_of_three_middlewares(outcome: Outcome) -> None:
    for name in ROMAN:
        found = [one for one in outcome.tables if one.table == f"table {name}"]
        assert [one.vendor for one in found] == [one.name for one in vendors.VENDORS]
        assert all(set(one.published) == COLUMNS for one in found)
    assert len(outcome.tables) == 45


def test_a_row_counts_all_messages_of_all_runs(outcome: Outcome) -> None:
    quiet, busy = of(outcome.tables, "I").measured, of(outcome.tables, "III").measured
    assert set(quiet) >= COLUMNS
    assert (quiet["min_us"], quiet["max_us"]) == (1000.0, 1007.0)
    assert 1002 < float(str(quiet["avg_us"])) < 1005
    assert (quiet["missed"], quiet["lost"], quiet["sent"]) == (0, 0, 2 * COUNT)
    assert (busy["missed"], busy["lost"], busy["sent"]) == (4, 2, 2 * COUNT)
    assert busy["max_us"] == 25_000.0


def test_a_published_row_stands_beside_it(outcome: Outcome) -> None:
    assert of(outcome.tables, "VIII").published == {
        "min_us": 1011, "avg_us": 1383, "max_us": 59762, "missed": 240, "lost": 1230, "sent": 36315,
    }  # fmt: skip


def test_what_is_not_installed_is_published_only_and_says_so(
    monkeypatch: pytest.MonkeyPatch, run: Run, folder: Path
) -> None:
    monkeypatch.setattr(vendors.stacks, "find", Installed)
    drawn = rows(read_published("gutierrez2018"), Measured(run, folder))
    for one in drawn:
        assert bool(one.measured) == (one.vendor == "Fast DDS")
        assert one.why == ("" if one.measured else "not measured: not installed")
        assert one.published


class Mute(Installed):
    """Beside it one whose probe does not go from host to host."""

    def __init__(self) -> None:
        super().__init__()
        self.probes = {**self.probes, "rustdds": Path("rustdds")}
        udp = Capability(kind="pingpong", transport="udp", roles=["pong", "ping"])
        self._asked["rustdds"] = Stack("rustdds", Path("rustdds"), [udp])


def test_what_is_installed_is_measured_once_it_goes_over_a_link() -> None:
    experiment, _ = read_experiment(experiment_file("gutierrez2018"))
    asked = {stack for block in experiment.measurements for stack in block.stack}
    assert asked == {one.stack for one in vendors.VENDORS}
    fitted = extent.placed(experiment, [2, 5], Mute())
    assert {tuple(block.stack) for block in fitted.measurements} == {("rcl", "cyclonedds")}
    assert {tuple(block.cpu) for block in fitted.measurements} == {("2,5",)}


class WithTlsf(Installed):
    """Its allocator can be chosen."""

    def __init__(self) -> None:
        super().__init__()
        (udp,) = self["rcl"].capabilities
        both = udp.model_copy(update={"allocators": ["heap", "tlsf"]})
        self._asked["rcl"] = Stack("rcl", Path("rcl"), [both])


def test_real_time_settings_are_the_papers_where_the_stack_can_choose_them() -> None:
    experiment, _ = read_experiment(experiment_file("gutierrez2018"))
    for block in extent.placed(experiment, [0, 1], WithTlsf()).measurements:
        realtime = block.scheduling != ["other"]
        own = realtime and "rcl" in block.stack
        assert (block.allocator == ["tlsf"]) == own, block.label
        assert bool(block.dds_priority) == realtime, block.label
    plain = extent.placed(experiment, [0, 1], Installed()).measurements
    assert {str(block.allocator) for block in plain} == {"None"}


class Several(Installed):
    """A ROS 2 with Cyclone DDS, too."""

    def __init__(self) -> None:
        super().__init__()
        self.probes = {**self.probes, "rcl_cyclonedds": Path("rcl")}
        self._asked["rcl_cyclonedds"] = self["rcl"]


def test_cyclone_dds_is_below_ros_2_as_in_the_paper_where_this_ros_2_has_it() -> None:
    experiment, _ = read_experiment(experiment_file("gutierrez2018"))
    fitted = extent.placed(experiment, [2, 5], Several())
    assert {tuple(block.stack) for block in fitted.measurements} == {
        ("rcl", "rcl_cyclonedds", "rustdds")
    }


@pytest.mark.usefixtures("unrendered")
@pytest.mark.parametrize("second", ["cyclonedds", "rcl_cyclonedds"])
def test_a_second_middleware_has_rows_findings_and_figures_of_its_own(
    run: Run, folder: Path, second: str
) -> None:
    twins = [one.model_copy(update={"stack": second, "key": f"c-{one.key}",
                                    "id": f"c-{one.id}"}) for one in run.cells]  # fmt: skip
    both = run.model_copy(update={"cells": [*run.cells, *twins]})
    found = gutierrez2018.answers(both, folder, Request(scale=0.005, draws=20))
    assert of(found.tables, "IV", "Cyclone DDS").measured == of(found.tables, "IV").measured
    stacks = [one.stack for one in found.findings]
    assert stacks.count("rcl") == stacks.count(second) > 10
    assert {one.file for one in found.figures} >= {f"figures/{figure}.png" for figure in FIGURES}
    (differ,) = [one for one in found.findings if one.id == "vendors-differ"]
    assert differ.holds is False  # they are the same


def test_a_deadline_is_missed_by_the_latency_and_the_first_message_stands_apart(
    folder: Path,
) -> None:
    late = np.full(COUNT, 1000.0)
    late[0] = late[5] = 10_001.0
    cell = cell_of(
        folder, [records_of(late, 10_000.0)], label="apart", kind="pingpong", transport="udp",
        period_us=10_000.0, deadline_us=10_000.0,
    )  # fmt: skip
    assert runs.missed(cell, folder) == (1, COUNT)


def test_cycles_that_a_late_reply_costs_are_left_out(folder: Path) -> None:
    cell = trip(folder, "1.A", 7)
    fewer = cell.model_copy(update={"samples_requested": COUNT + 25})
    assert runs.left_out(fewer, folder) == (25, COUNT + 25)


@pytest.mark.thorough
def test_every_figure_is_drawn_with_all_its_panels(run: Run, folder: Path) -> None:
    drawn = figures(read_published("gutierrez2018"), Measured(run, folder))
    expected = {
        (figure, f"figures/{figure}{suffix}") for figure in FIGURES for suffix in (".png", ".svg")
    }
    assert {(one.figure, one.file) for one in drawn} == expected
    for one in drawn:
        assert 0 < (folder / one.file).stat().st_size < 1_000_000


@pytest.mark.usefixtures("unrendered")
def test_a_figure_without_its_samples_is_still_drawn(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in set(FIGURES) - {"5"}:
        monkeypatch.delitem(FIGURES, name)
    run = run_of(tmp_path)
    for cell in run.cells:
        if cell.label == "1.B":
            (tmp_path / cell.samples[0]).unlink()
    found = gutierrez2018.answers(run, tmp_path, Request(scale=0.005, draws=5))
    assert "figures/5.png" in {one.file for one in found.figures}


def test_the_page_has_every_table_figure_and_statement(outcome: Outcome, folder: Path) -> None:
    text = page.keep(outcome).read_text(encoding="utf-8")
    for name in ROMAN:
        assert f">Table {name}</span>" in text
    assert text.count("data:image/png;base64,") == len(FIGURES)
    for said in ("Section III.B.1", "Section IV", "not measured:", "59\u202f762", "Fast DDS"):
        assert said in text
    for one in outcome.statements:
        assert (one.finding or one.why)[1:20] in text.replace("&#39;", "'")
    assert "Further tables and figures" not in text


def test_a_run_without_a_sample_answers_with_what_is_missing(tmp_path: Path) -> None:
    nothing = trip(tmp_path, "1.A", 0).model_copy(
        update={"statistics": None, "samples": [], "status": Status.failed}
    )
    empty = synthetic_run("x", [nothing], status=Status.failed)
    found = gutierrez2018.answers(empty, tmp_path, Request(scale=0.005, draws=5))
    assert {one.holds for one in found.findings} == {None}
    assert all(one.needs for one in found.findings)
    assert found.figures == []
    assert not found.complete


def test_every_panel_of_a_figure_has_the_same_scale(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(timeplots, "save", lambda figure, _: shown.append(figure) or [])
    twins = [one.model_copy(update={"stack": "cyclonedds", "key": f"c-{one.key}",
                                    "id": f"c-{one.id}"}) for one in run.cells
             if one.label != "1.D"]  # fmt: skip
    both = run.model_copy(update={"cells": [*run.cells, *twins]})
    figures(read_published("gutierrez2018"), Measured(both, folder))
    fifth = shown[list(FIGURES).index("5")]
    assert len(fifth.axes) == 4 + 3  # tests of one middleware, and of one without test 1.D
    assert len({axes.get_ylim() for axes in fifth.axes}) == 1
    assert fifth.axes[0].get_ylim()[1] > 25.0  # ms: the late reply of test 1.B
