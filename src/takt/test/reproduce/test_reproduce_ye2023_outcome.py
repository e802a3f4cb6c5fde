# SPDX-License-Identifier: Apache-2.0
"""Ye 2023: recordings become the rows of its tables, its figures and its page."""

from __future__ import annotations

from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np
import pytest
from rendering import none_rendered
from synthetic_cells import cell_of, records_of, synthetic_run
from synthetic_sizes import planned

from takt.machine.system import System
from takt.measure.results.model import (
    AddressCheck,
    Cell,
    ProbeResult,
    Run,
    Status,
    Subscriber,
)
from takt.reproduce import page, ye2023
from takt.reproduce.model import Outcome, Request, Row
from takt.reproduce.ye2023 import drawing, tables
from takt.reproduce.ye2023.quantities import KIB, MIB

COUNT = 60
NATIVE = {"9", "12", "13", "14", "15", "16", "17", "20", "21", "23", "25", "27", "28", "29", "31",
          "32", "33"}  # fmt: skip
REALTIME = NATIVE - {"9", "16", "17", "25", "29"} | {"10", "18", "19", "26", "30"}


class Kernel(System):
    """A machine of which only the kernel's configuration is known."""

    def __init__(self, folder: Path, config: dict[str, str]) -> None:
        super().__init__(folder)
        self.__dict__["kernel_config"] = config


def recorded(folder: Path, one: Cell) -> Cell:
    """A planned run with samples: the sizes count in µs, ROS 1's subscribers are served in turn."""
    generator = np.random.default_rng(one.repetition * 1000 + one.order)
    asked: dict[str, Any] = {
        name: getattr(one, name)
        for name in ("label", "stack", "kind", "transport", "payload_bytes", "period_us", "load",
                     "reliability", "durability", "history", "depth", "scheduling", "priority",
                     "slaves", "threads", "distance_us")
    }  # fmt: skip
    base = 100.0 + one.payload_bytes / 1024
    if one.kind == "pubsub":
        turn = 50.0 if one.stack == "ros1" else 0.0
        late = [
            base + turn * place + generator.uniform(0, 5, COUNT) for place in range(one.subscribers)
        ]
    else:
        late = [20.0 + generator.normal(0, 3, COUNT) for _ in range(one.threads)]
    asked["subscribers"] = one.subscribers
    periods = (
        [period for period, _ in one.series] if one.threads > 1 else [one.period_us] * len(late)
    )
    records = [records_of(each, period) for each, period in zip(late, periods, strict=True)]
    synthetic = cell_of(folder, records, one.repetition, **asked)
    if one.label in {"pointers", "loans"}:
        same = COUNT if one.transport in {"unique_ptr", "loan"} else 0
        synthetic.probes[0].addresses = AddressCheck(compared=COUNT, same=same)
    return synthetic


def run_of(folder: Path) -> Run:
    (folder / "samples").mkdir(exist_ok=True)
    cells = [recorded(folder, one) for one in planned(0.01).cells if one.repetition < 2]
    return synthetic_run("ye2023", cells, machine={"preemption": "PREEMPT_DYNAMIC"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sizes")


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    return run_of(folder)


@pytest.fixture(scope="module")
def outcome(run: Run, folder: Path) -> Outcome:
    config = {"CONFIG_HZ_1000": "y", "CONFIG_CPU_IDLE": "y"}
    with none_rendered():
        return ye2023.answers(run, folder, Request(scale=0.01, draws=20), Kernel(folder, config))


def of(outcome: Outcome, table: str, row: str, vendor: str | None = None) -> Row:
    (found,) = [
        one
        for one in outcome.tables
        if (one.table, one.row) == (table, row) and vendor in (None, one.vendor)
    ]
    return found


def test_table_3_has_the_options_of_this_kernel_beside_the_papers(outcome: Outcome) -> None:
    rows = [one for one in outcome.tables if one.table == "table 3"]
    assert len(rows) == 6
    assert of(outcome, "table 3", "Timer frequency").measured == {"setting": "CONFIG_HZ_1000=y"}
    assert of(outcome, "table 3", "C-state").measured == {"setting": "CONFIG_CPU_IDLE=y"}
    missing = of(outcome, "table 3", "Timer tick handling").measured
    assert missing == {"setting": "CONFIG_NO_HZ_FULL is not set"}


def test_an_unreadable_configuration_is_said(run: Run, folder: Path) -> None:
    synthetic = ye2023.rows(ye2023.read_published("ye2023"), ye2023.Measured(run, folder),
                       Kernel(folder, {}))  # fmt: skip
    whys = {one.why for one in synthetic if one.table == "table 3"}
    assert whys == {"its configuration cannot be read"}


def test_table_4_has_this_machine_beside_the_kernel_that_is_like_its_own(
    outcome: Outcome,
) -> None:
    for period in (1000, 1500, 2000, 2500, 3000):
        here = of(outcome, "table 4", f"{period} µs, native")
        assert 10 < float(str(here.measured["avg_us"])) < 30
        other = of(outcome, "table 4", f"{period} µs, PREEMPT_RT")
        assert not other.measured
        assert other.why == "not measured: this kernel is PREEMPT_DYNAMIC"
    assert of(outcome, "table 4", "2500 µs, PREEMPT_RT").published["max_us"] == 82


def test_table_5_counts_the_text_where_the_row_is_swapped(outcome: Outcome) -> None:
    reliable = of(outcome, "table 5", "Reliable strategy")
    best_effort = of(outcome, "table 5", "Best-effort strategy")
    assert reliable.published["reliability"] == reliable.measured["reliability"] == "reliable"
    assert best_effort.published["reliability"] == "best effort"
    assert best_effort.measured["reliability"] == "best effort"
    assert (reliable.measured["depth"], best_effort.measured["depth"]) == ("none", 1)
    for strategy in (reliable, best_effort):
        for name in ("history", "durability", "deadline"):
            assert strategy.measured[name] == strategy.published[name]


def test_sizes_and_fairness_have_their_numbers(outcome: Outcome) -> None:
    row = of(outcome, "figure 12", "4 MB", "ROS 2").measured
    assert 100 + 4 * 1024 <= float(str(row["p50_us"])) <= 105 + 4 * 1024
    fair = of(outcome, "figure 28", "1 KB", "ROS 2").measured
    unfair = of(outcome, "figure 28", "1 KB", "ROS 1").measured
    assert float(str(fair["fairness"])) > 0.999
    assert float(str(unfair["slowest_of_fastest"])) > 3


def test_strings_and_addresses_have_their_numbers(outcome: Outcome) -> None:
    text = of(outcome, "figure 12", "16 MB", "ROS 1, strings").measured
    assert 100 + 16 * 1024 <= float(str(text["p50_us"])) <= 105 + 16 * 1024
    for way, vendor, share in (
        ("unique_ptr", "rclcpp", 1), ("shared_ptr", "rclcpp", 0), ("loan", "ROS 2", 1),
        ("unique_ptr", "ROS 2, Takt's own library", 1),
    ):  # fmt: skip
        found = of(outcome, "figure 22", way, vendor).measured
        assert found["same_address"] == share * 6 * COUNT


def test_the_masters_cycle_stands_beside_the_papers(outcome: Outcome) -> None:
    row = of(outcome, "figure 33", "1000 µs")
    assert row.published == {"min_us": 982.5, "avg_us": 999.8, "max_us": 1022.4}
    assert row.measured["cycles"] == 2 * COUNT
    low, mean, high = (float(str(row.measured[name])) for name in ("min_us", "avg_us", "max_us"))
    assert low <= mean <= high
    assert mean == pytest.approx(1000, abs=5)


def finding(outcome: Outcome, name: str, stack: str) -> Any:
    (found,) = [one for one in outcome.findings if (one.id, one.stack) == (name, stack)]
    return found


def test_six_subscribers_have_a_fairness_with_its_interval(outcome: Outcome) -> None:
    found = finding(outcome, "six-ros2-fairer", "all")
    assert set(found.intervals) == {
        "ros1_fairness", "ros2_fairness", "ros1_slowest", "ros2_slowest",
    }  # fmt: skip
    for name, stack in (("six-ros2-alike", "rcl"), ("six-ros1-unlike", "ros1")):
        low, high = finding(outcome, name, stack).intervals["fairness"]
        here = finding(outcome, name, stack).measured["fairness"]  # rounded
        assert 1 / 6 <= low <= here + 1e-5
        assert here - 1e-5 <= high <= 1 + 1e-9
    assert found.measured["ros2_fairness"] > found.measured["ros1_fairness"]
    assert found.measured["ros1_slowest"] > found.measured["ros2_slowest"]


def test_the_table_of_the_subscribers_has_the_interval_too(outcome: Outcome) -> None:
    for size in ("1 KB", "64 KB", "1 MB", "4 MB"):
        for vendor in ("ROS 1", "ROS 2"):
            row = of(outcome, "figure 28", size, vendor).measured
            low, here, high = (
                float(str(row[name]))
                for name in ("fairness_at_least", "fairness", "fairness_at_most")
            )
            assert 1 / 6 <= low <= here <= high <= 1


def test_no_interval_of_jains_index_reaches_above_one(run: Run, folder: Path) -> None:
    wide = [
        one.model_copy(update={"statistics": one.statistics.model_copy(
            update={"subscribers": _slower(one.statistics.subscribers, 3 * one.repetition)})})
        if one.label == "six" and one.statistics else one
        for one in run.cells
    ]  # fmt: skip
    measured = ye2023.Measured(run.model_copy(update={"cells": wide}), folder)
    for size in (KIB, 4 * MIB):
        found = tables.fairness_interval(measured, "rcl", size, 200)
        assert found is not None
        assert found[0] < found[1] <= 1


def _slower(subscribers: list[Subscriber], times: int) -> list[Subscriber]:
    """The last one is served so many times slower."""
    last = subscribers[-1]
    assert last.latency
    slow = last.latency.model_copy(update={"p50_us": last.latency.p50_us * (1 + times)})
    return [*subscribers[:-1], last.model_copy(update={"latency": slow})]


def test_every_curve_is_drawn_however_many_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(drawing, "save", lambda figure, _: shown.append(figure) or [])
    found = [
        drawing.Curve(f"way {way}", [64.0, 128.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0])
        for way in range(9)
    ]
    drawing.curves(tmp_path / "23", "ways", found, "size of the data")
    lines = shown[0].axes[0].lines
    assert [one.get_label() for one in lines] == [one.name for one in found]
    assert len({(one.get_color(), one.get_linestyle()) for one in lines}) == 9


@pytest.mark.thorough
def test_every_figure_of_the_kernel_that_runs_is_drawn(tmp_path: Path) -> None:
    measured = ye2023.Measured(run_of(tmp_path), tmp_path)
    found = ye2023.figures(ye2023.read_published("ye2023"), measured)
    assert {one.figure for one in found} == NATIVE
    for one in found:
        assert 0 < (tmp_path / one.file).stat().st_size < 3_000_000


@pytest.mark.usefixtures("unrendered")
def test_the_figures_of_the_other_kernel_are_drawn_where_it_runs(run: Run, folder: Path) -> None:
    patched = run.model_copy(update={"machine": {"preemption": "PREEMPT_RT"}})
    found = ye2023.answers(patched, folder, Request(scale=0.01, draws=5), Kernel(folder, {}))
    assert {one.figure for one in found.figures} == REALTIME
    row = of(found, "table 4", "1000 µs, PREEMPT_RT")
    assert row.measured
    assert not of(found, "table 4", "1000 µs, native").measured


@pytest.mark.usefixtures("unrendered")
def test_a_figure_whose_samples_are_gone_is_left_out_and_the_others_stay(
    run: Run, folder: Path
) -> None:
    lacking = [
        one.model_copy(update={"samples": ["samples/gone.parquet"]})
        if one.label == "jitter"
        else one
        for one in run.cells
    ]
    measured = ye2023.Measured(run.model_copy(update={"cells": lacking}), folder)
    found = {one.figure for one in ye2023.figures(ye2023.read_published("ye2023"), measured)}
    assert found == NATIVE - {"25", "27"}


def test_the_page_has_every_table_figure_and_statement(outcome: Outcome, folder: Path) -> None:
    text = page.keep(outcome).read_text(encoding="utf-8")
    assert text.count("data:image/png;base64,") == len(NATIVE)
    for said in ("Section 4.7", "Table 4</span>", "Table 5</span>", "fully preemptible kernel"):
        assert said in text
    assert "Further tables and figures" not in text
    for one in outcome.statements:
        assert (one.finding or one.why)[1:20] in text.replace("&#39;", "'")


def test_a_run_without_a_sample_answers_with_what_is_missing(tmp_path: Path) -> None:
    cells = [one for one in planned(0.01).cells if one.repetition < 2]
    failed = [one.model_copy(update={"status": Status.failed}) for one in cells]
    empty = synthetic_run("x", failed, status=Status.failed)
    found = ye2023.answers(empty, tmp_path, Request(scale=0.01, draws=5), Kernel(tmp_path, {}))
    assert {one.holds for one in found.findings} == {None}
    assert all(one.needs or one.not_asked for one in found.findings)
    assert found.figures == []
    assert not found.complete


@pytest.mark.usefixtures("unrendered")
def test_a_run_that_is_to_be_repeated_and_has_no_samples_is_no_fault(
    run: Run, folder: Path
) -> None:
    """Runs of before keep the numbers of what was set aside."""
    again = {"status": Status.pending, "samples": []}
    cells = [
        one.model_copy(update=again) if (one.stack, one.label) == ("rcl", "sizes") else one
        for one in run.cells
    ]
    partial = run.model_copy(update={"cells": cells, "status": Status.partial})
    found = ye2023.answers(partial, folder, Request(scale=0.01, draws=5), Kernel(folder, {}))
    assert not found.complete


@pytest.mark.usefixtures("unrendered")
def test_a_size_that_a_middleware_never_brings_is_an_answer_and_the_others_are_compared(
    run: Run, folder: Path
) -> None:
    def lossy(one: Cell) -> Cell:
        if (one.stack, one.label, one.payload_bytes) != ("rustdds", "sizes", 16 * MIB):
            return one
        probes = [
            ProbeResult(role="subscriber", status="stopped"),
            ProbeResult(role="publisher", status="complete", sent=5),
        ]
        lost = {"status": Status.partial, "probes": probes, "statistics": None, "histogram": None,
                "samples": [], "count": 0, "sent": 5, "lost": 5}  # fmt: skip
        return one.model_copy(update=lost)

    cells = [lossy(one) for one in run.cells]
    partial = run.model_copy(update={"cells": cells, "status": Status.partial})
    found = ye2023.answers(partial, folder, Request(scale=0.01, draws=5), Kernel(folder, {}))
    assert found.complete
    (left,) = found.unfinished
    assert (left.state, left.runs, left.sent, left.came) == ("lost", 2, 10, 0)
    assert "RustDDS, pubsub of 16 MB" in left.point
    row = of(found, "figure 20", "16 MB", "RustDDS, without ROS 2")
    assert (row.measured, row.why) == ({}, "none of 10 messages arrived")
    alike = finding(found, "vendors-alike", "all")
    sizes = [64, KIB, 64 * KIB, MIB, 4 * MIB]
    here = geometric_mean([102.5 + size / 1024 for size in sizes])
    assert alike.measured["fastest_us"] == pytest.approx(here, rel=0.05)
    assert "with messages on all sides" in alike.definitions["fastest_us"]


@pytest.mark.usefixtures("unrendered")
def test_middlewares_below_ros_2_are_compared_with_each_other(run: Run, folder: Path) -> None:
    others = {"rcl_cyclonedds": "ROS 2 on Cyclone DDS", "rcl_zenoh": "ROS 2 on Zenoh"}
    twins = [
        one.model_copy(update={"stack": name, "key": f"{name}-{one.key}", "id": f"{name}-{one.id}"})
        for name in others
        for one in run.cells
        if (one.stack, one.label) == ("rcl", "sizes")
    ]
    several = run.model_copy(update={"cells": [*run.cells, *twins]})
    found = ye2023.answers(several, folder, Request(scale=0.01, draws=5), Kernel(folder, {}))
    for words in (*others.values(), "ROS 2 on Fast DDS"):
        own = of(found, "figure 20", "16 MB", words)
        assert own.measured == of(found, "figure 12", "16 MB", "ROS 2").measured
    alike = finding(found, "vendors-alike", "all")
    assert alike.measured["fastest_us"] == alike.measured["slowest_us"]


@pytest.mark.usefixtures("unrendered")
def test_what_is_not_installed_has_no_findings_of_its_own_and_is_reported(
    monkeypatch: pytest.MonkeyPatch, run: Run, folder: Path
) -> None:
    monkeypatch.setattr(ye2023.stacks, "find", lambda: {"rcl": Path()})
    one_kernel = run.model_copy(
        update={"cells": [one for one in run.cells if one.stack in ("rcl", "raw", "cyclictest")]}
    )
    found = ye2023.answers(one_kernel, folder, Request(scale=0.01, draws=5), Kernel(folder, {}))
    assert found.skipped == [
        f"{name}, not measured: not installed"
        + (f"; ./takt setup {stack} installs it" if stack else "")
        for name, stack in (
            ("ROS 1", "ros1"),
            ("Cyclone DDS", "cyclonedds"),
            ("RustDDS", "rustdds"),
            ("rclcpp, messages by pointer", ""),
            ("EtherCAT", "ethercat"),
        )
    ]
    assert {one.stack for one in found.findings} == {"rcl", "raw", "cyclictest", "all"}
    assert {one.holds for one in found.findings if one.stack == "all"} == {None}
