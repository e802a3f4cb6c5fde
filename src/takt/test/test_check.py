# SPDX-License-Identifier: Apache-2.0
"""``takt check``: what it plans, what it tells, and that it always ends with a verdict."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from conftest import HERE
from fake_machine import Fake
from recording_runs import wait_for_samples
from rich.console import Console
from synthetic_runs import CHECK, FAILED, write_run

from takt.measure.check.evidence import layers
from takt.measure.check.plan import RealtimeCore, choose_core, experiment
from takt.measure.check.show import show
from takt.measure.check.verdict import judge
from takt.measure.experiment.faults import Machine
from takt.measure.experiment.file import Source
from takt.measure.experiment.plan import estimate
from takt.measure.experiment.plan import plan as plan_cells
from takt.measure.results import store
from takt.measure.results.model import Note, ProbeResult, Run, Status
from takt.measure.statistics.series import read_series
from takt.network.stacks import Capability, Stack, Stacks
from takt.pages import text as text_of

CORE = RealtimeCore(1, "the last CPU; no CPU is isolated")


class Installed(Stacks):
    """The stacks of a complete installation, without their probes."""

    def __getitem__(self, name: str) -> Stack:
        both = ["both"]
        ways = {
            "raw": [("wakeup", "nanosleep"), ("pingpong", "futex"), ("pingpong", "udp")],
            "rcl": [("pingpong", "shm"), ("pingpong", "udp"), ("pingpong", "process")],
        }[name]
        known = [Capability(kind=kind, transport=way, roles=both) for kind, way in ways]
        return Stack(name, Path(name), known)


def planned(*stacks: str) -> list[str]:
    installed = Installed({name: Path(name) for name in stacks})
    machine = Machine(frozenset({0, 1}), 1 << 33)
    return [
        f"{cell.stack} {cell.transport} {cell.scheduling} {cell.cpu}"
        for cell in plan_cells(experiment(CORE), Source(), installed, machine, 1).cells
    ]


# the plan


def test_every_layer_is_measured_normal_and_real_time() -> None:
    points = set(planned("raw", "rcl"))
    for way in ("raw nanosleep", "raw futex", "raw udp", "rcl shm", "rcl process"):
        assert {f"{way} other []", f"{way} fifo [1]"} <= points
    assert len(points) == 10


def test_without_ros_the_machine_itself_is_measured() -> None:
    assert {one.split()[0] for one in planned("raw")} == {"raw"}


def test_the_check_takes_less_than_two_minutes() -> None:
    installed = Installed({name: Path(name) for name in ("raw", "rcl")})
    machine = Machine(frozenset({0, 1}), 1 << 33)
    cells = plan_cells(experiment(CORE), Source(), installed, machine, 1).cells
    assert sum(cell.samples_requested * cell.period_us for cell in cells) / 1e6 <= 80
    assert sum(map(estimate, cells)) < 120


def test_two_misses_at_a_point_still_prove_one_in_a_thousand() -> None:
    installed = Installed({"raw": Path("raw")})
    machine = Machine(frozenset({0, 1}), 1 << 33)
    cells = plan_cells(experiment(CORE), Source(), installed, machine, 1).cells
    key = cells[0].key
    assert sum(cell.samples_requested - 1 for cell in cells if cell.key == key) >= 6294


def test_an_isolated_core_is_taken_where_it_may_be_used(tmp_path: Path) -> None:
    machine = Fake(tmp_path).put({"/sys/devices/system/cpu/isolated": "2-3\n"})
    machine.usable_cpus = frozenset({0, 1, 2})
    assert choose_core(machine).cpu == 2
    machine.usable_cpus = frozenset({0, 1})
    assert choose_core(machine).cpu == max(os.sched_getaffinity(0))
    assert "are not allowed" in choose_core(machine).reason


def test_without_isolation_the_last_core_is_taken_and_that_is_said(tmp_path: Path) -> None:
    core = choose_core(Fake(tmp_path))
    assert core.cpu == max(os.sched_getaffinity(0))
    assert "no CPU is isolated" in core.reason


# the terminal


def shown(run: Run, folder: Path, width: int = 80) -> str:
    out = StringIO()
    console = Console(file=out, width=width, highlight=False, color_system=None)
    show(console, run, folder, f"{CORE.cpu} ({CORE.reason})", [Path("results/check")])
    return out.getvalue()


@pytest.fixture
def measured(tmp_path: Path) -> Run:
    run = write_run(tmp_path, CHECK, count=2500)
    run.verdict = judge(run)
    return run


def test_the_result_fits_80_columns_without_colour(measured: Run, tmp_path: Path) -> None:
    text = shown(measured, tmp_path)
    assert "\x1b" not in text
    for line in text.splitlines():
        assert len(line) <= 80 or line.lstrip().startswith(("Fix: sudo", "Fix: echo", "echo"))
    assert "…" not in text.partition("WHAT TO FIX")[0]


def test_every_layer_and_its_numbers_are_in_the_table(measured: Run, tmp_path: Path) -> None:
    text = " ".join(shown(measured, tmp_path).split())
    for name in (
        "Timer wake-up normal",
        "Hand-over by futex normal",
        "UDP loopback normal",
        "ROS 2 between processes normal",
        "ROS 2 within one process normal",
    ):
        assert name in text
    assert text.count("real-time ") >= 5


def test_the_verdict_its_reasons_and_the_fixes_are_reported(measured: Run, tmp_path: Path) -> None:
    text = " ".join(shown(measured, tmp_path).split())
    assert measured.verdict is not None
    for sentence in (measured.verdict.headline, *measured.verdict.reasons):
        assert " ".join(sentence.split()) in text.replace(" - ", " ")
    assert "linux-image-rt" in text
    assert "for the control law" in text


def test_layers_stand_in_one_order_whatever_the_order_of_the_run(measured: Run) -> None:
    first = [layer.first.key for layer in layers(measured.cells)]
    assert first == [layer.first.key for layer in layers(reversed(measured.cells))]


def test_settings_that_were_refused_are_marked_in_the_table(measured: Run, tmp_path: Path) -> None:
    note = Note(what="policy fifo at priority 80", why="EPERM", fix="set rtprio")
    for cell in measured.cells:
        cell.probes = [ProbeResult(role="both", status="complete", notes=[note])]
    measured.verdict = judge(measured)
    text = " ".join(shown(measured, tmp_path).split())
    assert "real-time (!)" in text
    assert "Fix: Set rtprio." in text
    assert "without the requested real-time settings" in text


def test_a_row_of_which_a_policy_was_refused_is_normal_and_the_headline_says_so(
    measured: Run, tmp_path: Path
) -> None:
    for cell in measured.cells:
        got = {"policy": "other", "priority": 0}
        cell.probes = [ProbeResult(role="both", status="complete", granted=got)]
    verdict = measured.verdict = judge(measured)
    assert "FIFO 80 was not granted: all of this was measured under normal." in verdict.headline
    assert verdict.level != "good"
    text = " ".join(shown(measured, tmp_path).split())
    assert "normal (!)" in text
    assert "real-time (!)" not in text
    assert "(!): requested real-time settings" in text


def test_the_table_has_the_responses_of_all_repetitions_together(
    measured: Run, tmp_path: Path
) -> None:
    """What is late by the column beside it is slower than the deadline by the maximum."""
    lines = shown(measured, tmp_path, 120).splitlines()
    for layer in layers(measured.cells, tmp_path):
        assert layer.statistics is not None
        files = [tmp_path / name for cell in layer.cells for name in cell.samples]
        every = np.concatenate([read_series(file).response_ns for file in files]) / 1000
        assert layer.statistics.response.max_us == pytest.approx(every.max())
        row = f"{text_of.microseconds(every.max())}  "
        assert any(row in line for line in lines)
        late = layer.late(layer.first.deadline_us).at_most
        assert (late > layer.absent) == (every.max() > layer.first.deadline_us)


def test_numbers_are_whole_where_responses_take_seconds(measured: Run, tmp_path: Path) -> None:
    """Names give way: an overloaded machine's numbers have seven digits."""
    for cell in measured.cells:
        cell.samples, cell.period_us = [], 150.0
        assert cell.statistics is not None
        cell.statistics.response.max_us = cell.statistics.response.p50_us = 5_685_123.0
    measured.cells = [cell for cell in measured.cells if cell.repetition == 0]
    lines = shown(measured, tmp_path).partition("WHAT IT MEANS")[0].splitlines()
    assert sum(line.count(text_of.microseconds(5_685_123.0)) for line in lines) == 2 * len(
        measured.cells
    )


def test_more_than_a_whole_cycle_is_said_of_the_sum_with_the_wake_up(
    measured: Run, tmp_path: Path
) -> None:
    slow = [cell for cell in measured.cells if cell.transport == "shm"]
    measured.cells = [cell for cell in measured.cells if cell.kind == "wakeup"] + slow
    for cell in measured.cells:
        cell.period_us = 150.0
    text = " ".join(shown(measured, tmp_path).split())
    assert re.search(r"up to \S+ µs more. Together with the wake-up: \S+ µs; that is "
                     r"more than a whole cycle of 150 µs\.", text)  # fmt: skip


def test_failed_and_missing_measurements_do_not_hide_the_rest(tmp_path: Path) -> None:
    run = write_run(tmp_path, [*CHECK[:2], FAILED], count=2500)
    run.verdict = judge(run)
    text = " ".join(shown(run, tmp_path).split())
    assert "real-time failed" in text
    assert f"{FAILED.key}-r0 failed" in text
    assert "Timer wake-up normal" in text


def test_nothing_measured_is_a_verdict_too(measured: Run, tmp_path: Path) -> None:
    for cell in measured.cells:
        cell.status, cell.statistics, cell.count, cell.lost = Status.pending, None, 0, 0
        cell.p50_us = cell.p99_us = cell.p999_us = cell.max_us = None
    measured.verdict = judge(measured)
    assert "VERDICT: UNKNOWN" in shown(measured, tmp_path)
    measured.cells = []
    measured.verdict = judge(measured)
    assert "Nothing was measured" in shown(measured, tmp_path)


# the command, on the fake stack

SCRIPT = """
import sys
from takt.measure.check import plan
plan.LAYERS = tuple({"stack": "fake", "kind": "pingpong", "transport": way}
                    for way in sys.argv[1].split(","))
plan.DURATION, plan.REPETITIONS = sys.argv[2], 1
from takt.cli.main import main
main(["check", "--json", "--out", "run"])
"""


def check(folder: Path, ways: str, duration: str = "100ms") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, ways, duration],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), *sys.path])},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_command_prints_one_document_and_leaves_run_and_report(
    prefix: Path, tmp_path: Path
) -> None:
    process = check(tmp_path, "fine,crash")
    out, err = process.communicate(timeout=150)
    document = json.loads(out)
    assert set(document) >= {"schema_version", "verdict", "cells", "doctor", "results"}
    wanted = "stack kind transport payload_bytes policy priority cpu count lost"
    assert set(document["cells"][0]) >= {*wanted.split(), "p50_us", "p99_us", "p999_us", "max_us"}
    assert len(document["cells"]) == 4
    assert any("failed" in reason for reason in document["verdict"]["reasons"]), err
    run = store.read(tmp_path / "run")
    assert run.verdict is not None
    assert run.verdict.model_dump() == document["verdict"]
    assert run.machine["kernel"] == os.uname().release
    assert (tmp_path / "run" / "report.html").stat().st_size > 10_000
    assert process.returncode == 1  # a cell failed, whatever the level


def test_ctrl_c_keeps_what_was_measured_and_still_reports(prefix: Path, tmp_path: Path) -> None:
    process = check(tmp_path, "held", "20s")  # it is never let go
    wait_for_samples(process, tmp_path / "run", 2)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=150)
    document = json.loads(out)
    assert process.returncode == 1
    assert document["status"] == "partial"
    assert sum(cell["count"] for cell in document["cells"]) > 0
    assert "did not complete" in " ".join(document["verdict"]["reasons"])
    assert (tmp_path / "run" / "report.html").exists()


def test_without_any_stack_the_error_says_how_to_get_one(prefix: Path, tmp_path: Path) -> None:
    process = check(tmp_path, "fine")
    process.communicate(timeout=150)
    (prefix / "lib" / "takt_probes" / "probe_fake").unlink()
    process = check(tmp_path, "fine")
    out, err = process.communicate(timeout=150)
    assert (process.returncode, out) == (1, "")
    assert "no communication stack is installed" in err
    assert "--setup-only" in err


@pytest.mark.parametrize("share", [0.0005, 0.002])
@pytest.mark.parametrize("transport", ["nanosleep", "shm"])
def test_no_time_holds_for_what_never_came(
    measured: Run, tmp_path: Path, transport: str, share: float
) -> None:
    for cell in measured.cells:
        if cell.transport == transport:
            cell.lost = int(cell.count * share)
            cell.sent = cell.samples_requested = cell.count + cell.lost
    meaning = " ".join(shown(measured, tmp_path).partition("WHAT IT MEANS")[2].split())
    missing = "cycles" if transport == "nanosleep" else "answers over ROS 2"
    assert ("are missing" in meaning) == (f"{missing} are missing" in meaning) == (share > 0.001)
    said = "In 999 of 1000" if transport == "nanosleep" else "its answer take up to"
    assert (said in meaning) == (share < 0.001)
