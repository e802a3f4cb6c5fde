# SPDX-License-Identifier: Apache-2.0
"""The load of a cell: proved while it is measured, and gone afterwards, also after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conditioned import BUILT, HOPELESS, IDLE, measured, needs, on_a_disk, program
from killed_runs import cleaned
from test_process import gone, until
from test_real_probes import INSTALLED
from test_run import Quiet, prepared

from takt.machine import cpu_quota
from takt.measure.conditions import load
from takt.measure.results.model import Cell, Status
from takt.measure.run import runner
from takt.network import namespace, stacks
from takt.network.sweeper import SWEEPER
from takt.processes import scratch, usage

# As many processes as stress-ng has, a file like its own, and no work.
LAZY = """#!/bin/sh
for argument; do
    [ "$before" = --temp-path ] && dd if=/dev/zero of="$argument/file" bs=1M count=1 2>/dev/null
    before=$argument
done
sleep 600 & sleep 600 & sleep 600 & wait
"""


def test_a_load_that_works_is_recorded(folder: Path, memory: Path) -> None:
    cell = measured(prepared(load="cpu", duration="500ms"), folder, memory)
    assert (cell.status, cell.error) == (Status.complete, None)
    assert cell.conditions is not None
    assert cell.conditions.load_cpu_share is not None
    assert cell.conditions.load_cpu_share >= load.LEAST_SHARE
    assert cell.conditions.traffic_there_mbps is None


def test_a_cell_without_conditions_records_none(folder: Path, memory: Path) -> None:
    assert measured(prepared(), folder, memory).conditions is None


@pytest.mark.parametrize("kind", ["fft", "stress 1"])
def test_a_load_that_does_not_start_fails_its_cell(
    folder: Path, memory: Path, on_path: Path, kind: str
) -> None:
    program(on_path, load.STRESS_NG, IDLE)
    run = prepared(load=[kind, "none"])
    runner.measure_cells(run, folder, stacks.find(), Quiet(), limits=HOPELESS, memory=memory)
    cells = {cell.load: cell for cell in run.cells}
    error = cells[kind].error
    assert (cells[kind].status, cells["none"].status) == (Status.failed, Status.complete)
    assert error is not None
    assert error.what == f"the load {kind} did not start"
    assert error.fix is not None
    assert "stress-ng" in error.fix
    assert not (folder / scratch.LOADED).exists()


def test_a_load_that_dies_says_its_last_words(folder: Path, memory: Path, on_path: Path) -> None:
    program(on_path, load.STRESS_NG, "#!/bin/sh\necho no such stressor >&2\nexit 2\n")
    cell = measured(prepared(load="stress 1"), folder, memory)
    assert cell.status is Status.failed
    assert cell.error is not None
    assert "no such stressor" in cell.error.why


def test_a_load_that_does_nothing_fails_its_cell(folder: Path, memory: Path, on_path: Path) -> None:
    on_a_disk(folder)
    program(on_path, load.STRESS_NG, LAZY)
    cell = measured(prepared(load="stress 1", duration="1s"), folder, memory)
    assert cell.status is Status.failed
    assert cell.error is not None
    assert cell.error.what == "the load stress 1 did not load the machine"
    assert cell.count == 1000  # what was measured is kept
    assert cell.conditions is not None
    assert cell.conditions.load_cpu_share is not None
    assert cell.conditions.load_cpu_share < load.LEAST_SHARE


@pytest.mark.parametrize("kind", ["fft", "stress 2"])
def test_stress_ng_loads_and_leaves_nothing(folder: Path, memory: Path, kind: str) -> None:
    needs(load=kind)
    on_a_disk(folder)
    before = set(usage.family([os.getpid()]))
    cell = measured(prepared(load=kind, duration="1s"), folder, memory)
    assert (cell.status, cell.error) == (Status.complete, None)
    assert cell.conditions is not None
    assert (cell.conditions.load_written_bytes is not None) == (kind == "stress 2")
    assert set(usage.family([os.getpid()])) <= before
    assert not (folder / scratch.LOADED).exists()


def test_a_killed_tool_leaves_no_process_and_no_link(tmp_path: Path) -> None:
    needs(host="here,namespace", traffic_mbps=2.0, load="stress 1")
    on_a_disk(tmp_path)
    if "raw" not in INSTALLED:
        pytest.skip("the stack raw is not installed")
    words = ["measure", "pingpong", "--stack", "raw", "--transport", "udp", "--duration", "600s"]
    words += ["--host", "here,namespace", "--traffic", "2Mbps", "--load", "stress 1"]
    out = tmp_path / "out"
    tool = subprocess.Popen(
        [sys.executable, "-m", "takt", *words, "--out", str(out)],
        env={**os.environ, "TAKT_PREFIX": BUILT},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    family: list[int] = []

    def measuring() -> bool:
        nonlocal family
        family = usage.family([tool.pid])
        return any("probe_raw" in title(pid) and "ping" in title(pid) for pid in family[1:])

    try:
        assert until(measuring)
        (interface,) = namespace.left_by(scratch_of(out), remove_it=False)
        tool.kill()
        tool.wait()
        assert until(lambda: all(map(gone, family)))
        assert until(lambda: not Path("/sys/class/net", interface).exists())
        assert until(lambda: cleaned(out))
        assert not (out / scratch.LOADED).exists()
    finally:
        tool.kill()
        tool.wait()
        for pid in family:
            if not gone(pid):
                os.kill(pid, signal.SIGKILL)


def title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def scratch_of(run: Path) -> Path:
    found = scratch.named_in((run / scratch.LOCK).read_text(encoding="utf-8"), run)
    assert found is not None
    return found


@pytest.mark.parametrize("kind", ["cpu limited", "stress 1 limited"])
def test_a_limited_load_has_half_of_the_cpu_time_and_leaves_no_group(
    folder: Path, memory: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    needs(load=kind)
    on_a_disk(folder)
    removed: list[Path] = []
    remove = cpu_quota._remove

    def removing(group: Path) -> None:
        remove(group)
        removed.append(group)

    monkeypatch.setattr(cpu_quota, "_remove", removing)
    cell = measured(prepared(load=kind, duration="1s"), folder, memory)
    assert (cell.status, cell.error) == (Status.complete, None)
    assert cell.conditions is not None
    assert cell.conditions.load_cpu_share is not None
    assert load.LEAST_SHARE <= cell.conditions.load_cpu_share <= load.MOST_SHARE
    assert removed
    assert not any(group.exists() for group in removed)


def test_a_load_that_exceeds_its_quota_fails_its_cell(
    folder: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs(load="cpu limited")
    monkeypatch.setattr(load, "MOST_SHARE", 0.0)
    cell = measured(prepared(load="cpu limited"), folder, memory)
    assert cell.error is not None
    assert cell.error.what == "the load cpu limited exceeded its quota of 50%"


def test_the_group_of_a_killed_run_is_removed(tmp_path: Path) -> None:
    needs(load="cpu limited")
    scratch_folder = tmp_path / f"takt-{os.getpid():08d}"
    with cpu_quota.quota(scratch_folder, 1.0) as group:
        assert SWEEPER.of_run(scratch_folder, False) == [f"control group with a quota: {group}"]
        assert group.exists()
        assert SWEEPER.of_run(scratch_folder, True) == [f"control group with a quota: {group}"]
        assert not group.exists()


def test_a_quota_of_control_groups_version_2_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu_quota, "_GROUPS", tmp_path)
    with cpu_quota.quota(tmp_path / "takt-0123abcd", 1.5) as group:
        assert group == tmp_path / "takt-load-0123abcd"
        assert (group / "cpu.max").read_text() == "150000 100000"


def test_a_machine_without_quotas_says_what_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu_quota, "_GROUPS", tmp_path / "none")
    lack = cpu_quota.lacking()
    assert lack is not None
    assert "no control group with a quota" in lack[0]
    assert "cgroup.subtree_control" in lack[1]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("stress 8 limited", "load_stress-limited"),
        ("stress 2 limited", "load_stress2-limited"),
        ("cpu  limited", "load_cpu-limited"),
    ],
)
def test_a_limited_load_is_another_point(folder: Path, text: str, name: str) -> None:
    assert prepared(load=text).cells[0].key.endswith(name)


def test_a_limited_load_of_an_older_run_has_todays_name(folder: Path) -> None:
    cell = prepared(load="stress limited").cells[0]
    former = {name: getattr(cell, name).replace("-limited", "limited") for name in ("id", "key")}
    assert former["key"] != cell.key
    read = Cell.model_validate(cell.model_dump() | former)
    assert (read.id, read.key) == (cell.id, cell.key)
