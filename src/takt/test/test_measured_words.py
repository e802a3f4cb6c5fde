# SPDX-License-Identifier: Apache-2.0
"""What is said of a run follows from what arrived, in time, under what was granted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_cells import cell_of, records_of, synthetic_run
from test_report import words_of

from takt.cli.session import Progress, document
from takt.measure.experiment.faults import Machine
from takt.measure.experiment.file import Source, check
from takt.measure.experiment.plan import plan
from takt.measure.report.html import write_report
from takt.measure.results import reservations, scheduling
from takt.measure.results.model import Cell, ProbeResult, Status, Verdict
from takt.measure.run.session import judge
from takt.measure.statistics.pooled import rows
from takt.network.stacks import Capability, Stack, Stacks

NEVER = float("nan")
MET = "every deadline met"
FIFO, OTHER = {"policy": "fifo", "priority": 80}, {"policy": "other", "priority": 0}


def measured(folder: Path, late_us: list[float], repetition: int = 0, **asked: Any) -> Cell:
    """A wake-up cell with a deadline of 1 ms whose responses came so late."""
    words = {"kind": "wakeup", "stack": "raw", "transport": "nanosleep", "scheduling": "fifo",
             "deadline_us": 1000.0, "granted": FIFO, "label": "x"} | asked  # fmt: skip
    synthetic = cell_of(folder, [records_of(late_us, 1000.0)], repetition, **words)
    synthetic.key = "raw-wakeup-nanosleep-fifo80-1kHz"
    synthetic.id = f"{synthetic.key}-r{repetition}"
    return synthetic


def plain(verdict: Verdict) -> str:
    """Its words, with ordinary spaces."""
    return " ".join("\n".join([verdict.headline, *verdict.reasons]).split())


def said(*cells: Cell) -> str:
    return plain(judge(synthetic_run("x", cells)))


@pytest.mark.parametrize(
    ("got", "words"), [(FIFO, " p50 "), (OTHER, " measured under other, p50 ")]
)
def test_the_progress_of_a_run_says_what_was_obtained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], got: dict[str, object], words: str
) -> None:
    cell = measured(tmp_path, [10.0] * 6, granted=got)
    Progress(synthetic_run("x", [cell])).finish(cell)
    assert f"{cell.id}{words}" in " ".join(capsys.readouterr().err.split())


# in time, late, lost, never sent, nothing


def test_all_in_time_is_every_deadline_met(tmp_path: Path) -> None:
    verdict = judge(synthetic_run("x", [measured(tmp_path, [10.0] * 6)]))
    assert (verdict.level, verdict.headline) == ("good", f"the cell is measured, {MET}")


@pytest.mark.parametrize(
    ("late_us", "asked", "words"),
    [
        ([10.0] * 5 + [1000.001], {}, "1 of 5 responses came after 1 ms"),
        ([10.0] * 3 + [NEVER] * 3, {}, "3 of 6 missing"),
        ([10.0] + [NEVER] * 5, {}, "5 of 6 missing"),
        ([10.0] + [NEVER] * 5, {}, "no samples in 1 of 1 cells"),
        ([10.0] * 6, {"samples_requested": 12}, "6 of 12 missing"),
        ([10.0] * 6, {"granted": OTHER}, "fifo 80 was not granted: measured under other"),
        (
            [10.0] * 6,
            {"granted": FIFO | {"priority": 1}},
            "fifo 80 was not granted: measured under fifo 1",
        ),
    ],
)
def test_what_was_late_absent_or_refused_is_no_success(
    tmp_path: Path, late_us: list[float], asked: dict[str, Any], words: str
) -> None:
    verdict = judge(synthetic_run("x", [measured(tmp_path, late_us, **asked)]))
    assert words in plain(verdict)
    assert verdict.level == "fair"
    assert (MET in verdict.headline) == ("not granted" in words)
    assert words in " ".join(verdict.headline.split())  # the last line is of it


def test_a_response_at_its_deadline_is_in_time(tmp_path: Path) -> None:
    assert MET in said(measured(tmp_path, [1000.0] * 6))


def test_nothing_that_arrived_is_a_failure(tmp_path: Path) -> None:
    verdict = judge(synthetic_run("x", [measured(tmp_path, [NEVER] * 6)]))
    assert verdict.level == "bad"
    assert MET not in plain(verdict)
    assert judge(synthetic_run("x", [])).level == "unknown"


def test_a_message_to_two_subscribers_is_expected_twice(tmp_path: Path) -> None:
    heard = [records_of([10.0] * 6, 1000.0), records_of([10.0] * 3, 1000.0)]
    cell = cell_of(tmp_path, heard, kind="pubsub", transport="udp", deadline_us=1000.0)
    assert (reservations.expected(cell), reservations.absent(cell)) == (12, 3)
    assert "3 of 12 missing" in said(cell)


def test_what_a_stopped_cell_did_not_come_to_was_not_due(tmp_path: Path) -> None:
    cell = measured(tmp_path, [10.0] * 3 + [NEVER], samples_requested=100)
    assert reservations.absent(cell.model_copy(update={"status": Status.partial})) == 1
    assert reservations.absent(cell) == 97


def test_a_period_twice_as_long_is_reported_though_each_answer_was_in_time(tmp_path: Path) -> None:
    """A master that begins a cycle 5.65 ms late, whose data is back 10 µs later."""
    records = records_of([10.0] * 20, 1000.0)
    records["sent_ns"] = records["intended_ns"]
    for name in ("sent_ns", "received_ns"):
        records[name][10] += 5_650_000
    asked = {"kind": "ethercat", "stack": "ethercat", "transport": "simulated"}
    loose = cell_of(tmp_path, [records], deadline_us=10_000.0, **asked)
    assert loose.statistics is not None
    assert loose.statistics.exceedance.exceeded == 0
    assert "1 period at least twice as long, up to 6.65 ms instead of 1 ms" in said(loose)
    assert MET not in said(loose)


def test_a_wrong_working_counter_is_reported(tmp_path: Path) -> None:
    cell = measured(tmp_path, [10.0] * 6)
    bus = {"slaves": 1, "expected_counter": 3, "wrong_counter": 2, "changes": [],
           "changes_left_out": 0, "foreign_frames": 0}  # fmt: skip
    cell.probes[0] = ProbeResult.model_validate(
        {"role": "both", "status": "complete", "bus": bus, "granted": FIFO}
    )
    assert "2 cycles with a wrong working counter" in said(cell)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.floats(1.0, 3000.0), st.just(NEVER)), min_size=2, max_size=40),
    st.integers(0, 9),
    st.booleans(),
)
def test_success_is_said_of_nothing_but_success(
    tmp_path_factory: pytest.TempPathFactory, late_us: list[float], unsent: int, granted: bool
) -> None:
    folder = tmp_path_factory.mktemp("run")
    got = FIFO if granted else OTHER
    cell = measured(folder, late_us, samples_requested=len(late_us) + unsent, granted=got)
    verdict = judge(synthetic_run("x", [cell]))
    whole = not unsent and all(0 < late <= 1000.0 for late in late_us[1:]) and late_us[0] > 0
    assert (MET in verdict.headline) == whole
    assert (verdict.level == "good") == (whole and granted)


@pytest.mark.parametrize(
    ("late_us", "asked", "whole"),
    [
        ([10.0, 999.9, 1000.0], {}, True),
        ([10.0, 999.9, 1000.001], {}, False),
        ([10.0, 999.9, NEVER], {}, False),
        ([10.0, 999.9, 1000.0], {"samples_requested": 4}, False),
        ([10.0, 999.9, 1000.0], {"granted": OTHER}, True),
    ],
)
def test_a_page_says_what_the_terminal_does(
    tmp_path: Path, late_us: list[float], asked: dict[str, Any], whole: bool
) -> None:
    run = synthetic_run("x", [measured(tmp_path, late_us, **asked)])
    run.verdict = judge(run)
    words = words_of(write_report(tmp_path, run).read_text(encoding="utf-8"))
    assert (MET in words) == whole
    for said_of_it in (run.verdict.headline, *run.verdict.reasons):
        assert " ".join(said_of_it.split()).lower() in words.lower()


# named after what was granted


def test_a_row_is_named_after_what_was_obtained(tmp_path: Path) -> None:
    assert scheduling.name(measured(tmp_path, [10.0] * 3)) == "raw-wakeup-nanosleep-fifo80-1kHz"
    got = scheduling.name(measured(tmp_path, [10.0] * 3, granted=OTHER))
    assert got == "raw-wakeup-nanosleep-other-1kHz (requested: fifo80)"


def test_processes_that_obtained_different_policies_are_both_named(tmp_path: Path) -> None:
    cell = measured(tmp_path, [10.0] * 3)
    cell.probes += [ProbeResult(role="pong", status="complete", granted=OTHER)]
    assert scheduling.name(cell) == "raw-wakeup-nanosleep-fifo80+other-1kHz (requested: fifo80)"
    assert not scheduling.real_time(cell)


def test_repetitions_that_obtained_different_policies_are_rows_of_their_own(tmp_path: Path) -> None:
    """A run that root began and somebody else went on with."""
    cells = [
        measured(tmp_path, [10.0] * 6, 0),
        measured(tmp_path, [900.0] * 6, 1, granted=OTHER),
        measured(tmp_path, [20.0] * 6, 2),
    ]
    found = {row.name: row for row in rows(tmp_path, cells)}
    assert [len(row.cells) for row in found.values()] == [2, 1]
    mine = found["raw-wakeup-nanosleep-fifo80-1kHz"].statistics
    assert mine is not None
    assert (mine.response.count, mine.response.max_us) == (10, 20.0)
    assert "fifo 80 was not granted in 1 of 3 cells: measured under other" in said(*cells)


def test_one_that_is_still_to_be_measured_is_with_the_others_of_its_point(tmp_path: Path) -> None:
    cells = [measured(tmp_path, [10.0] * 6, 0, granted=OTHER), measured(tmp_path, [10.0] * 6, 1)]
    cells[1].status, cells[1].probes = Status.pending, []
    assert [len(row.cells) for row in rows(tmp_path, cells)] == [2]


def test_a_rows_numbers_are_of_all_repetitions_together(tmp_path: Path) -> None:
    drawn = np.random.default_rng(3).lognormal(4.0, 1.0, (3, 500)).round(3)
    cells = [measured(tmp_path, list(late), place) for place, late in enumerate(drawn)]
    (row,) = rows(tmp_path, cells)
    every = np.sort(drawn[:, 1:].ravel())  # the first of each is set apart
    assert row.statistics is not None
    found = row.statistics.response
    assert (found.count, found.max_us) == (len(every), every[-1])
    assert found.p99_us == pytest.approx(np.percentile(every, 99), rel=0.02)
    assert row.late == int((every > 1000.0).sum())


# the deadline


class Installed(Stacks):
    """Stacks that can do everything, without their probes."""

    def __getitem__(self, name: str) -> Stack:
        ways = [("wakeup", "nanosleep"), ("timer-oneshot", "nanosleep"), ("pingpong", "udp")]
        known = [Capability(kind=kind, transport=way, roles=["both"]) for kind, way in ways]
        return Stack(name, Path(name), known)


@pytest.mark.parametrize(
    ("measurement", "of_all", "deadline_us"),
    [
        ({"kind": "wakeup"}, {}, 1000.0),
        ({"kind": "wakeup", "rate": "100Hz"}, {}, 10_000.0),
        ({"kind": "pingpong", "transport": "udp", "period": "5ms"}, {}, 5000.0),
        ({"kind": "timer-oneshot", "timeout": "800us"}, {}, 800.0),
        ({"kind": "wakeup"}, {"deadline": "10ms"}, 10_000.0),
        ({"kind": "wakeup", "deadline": "2ms"}, {"deadline": "10ms"}, 2000.0),
    ],
)
def test_the_deadline_is_the_period_unless_it_is_said(
    measurement: dict[str, Any], of_all: dict[str, Any], deadline_us: float
) -> None:
    blocks = [{"stack": "raw"} | measurement]
    source = Source()
    experiment = check({"name": "x", "measurements": blocks} | of_all, source)
    machine = Machine(frozenset({0}), 1 << 33)
    found = plan(experiment, source, Installed({"raw": Path("raw")}), machine, 1)
    assert {cell.deadline_us for cell in found.cells} == {deadline_us}


def test_json_names_what_was_obtained_and_keeps_what_was_asked_for(tmp_path: Path) -> None:
    cell = measured(tmp_path, [10.0] * 6, granted=OTHER)
    found = json.loads(json.dumps(document(synthetic_run("x", [cell]), tmp_path)))
    (reported,), (row,) = found["cells"], found["rows"]
    assert (reported["policy"], reported["priority"]) == ("other", 0)
    assert reported["requested"] == FIFO
    assert reported["key"] == row["key"] == cell.key
    assert reported["name"] == row["name"] == "raw-wakeup-nanosleep-other-1kHz (requested: fifo80)"
    assert (row["late"], row["absent"], row["response"]["max_us"]) == (0, 0, 10.0)
