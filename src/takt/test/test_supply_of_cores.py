# SPDX-License-Identifier: Apache-2.0
"""What ``--supply`` and ``cpu_max`` say of cores: files, quotas and reservations."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from takt.errors import TaktError
from takt.schedule.analysis.ask import analyse
from takt.schedule.application import reservation
from takt.schedule.application.cores import budget_of, parse_cpu_max
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.application.supply import add_supply

APP = "cpus: [1]\nnodes: {n: {c: {timer: 20ms, wcet: 1ms, priority: 1}}}\n"
MEASURED = (
    "cores:\n"
    "  0: {supply: {rate: 0.5, delay: 1ms}}\n"
    "  1: {supply: {rate: 0.8, delay: 2ms}, latency: 50us, measured: {windows: 100, "
    "window: 50ms}}\n"
)


def app(folder: Path, text: str = APP) -> Path:
    path = folder / "x.app.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def supply_file(folder: Path, text: str = MEASURED) -> str:
    path = folder / "supply.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "quota", "period"),
    [
        ("20ms 100ms", 20_000_000, 100_000_000),
        ("20000 100000", 20_000_000, 100_000_000),
        ("max 100000", None, 100_000_000),
    ],
)
def test_cpu_max_is_as_in_the_kernel_s_file_or_with_units(
    text: str, quota: int | None, period: int
) -> None:
    assert parse_cpu_max(text) == (quota, period)


@pytest.mark.parametrize(
    ("quota", "cores", "budget"),
    [(20, 1, 20), (100, 1, 100), (250, 1, 100), (150, 2, 50), (100, 2, 0), (250, 3, 50)],
)
def test_the_other_cores_may_use_their_whole_time_of_a_quota(
    quota: int, cores: int, budget: int
) -> None:
    assert budget_of(quota, 100, cores) == budget


def test_a_quota_is_a_periodic_resource(tmp_path: Path) -> None:
    text = "cores: {0: {supply: {cpu_max: 4ms 5ms}}}\n"
    text += "nodes: {n: {c: {timer: 9ms, wcet: 3ms, priority: 1}}}\n"
    document = flat(read_application(app(tmp_path, text)))
    assert document["cores"] == [{"cpu": 0, "supply": {"budget": 4_000_000, "period": 5_000_000}}]
    (callback,) = analyse(document, "x").scenarios[0].callbacks
    assert callback.response_us == 2 * 1000 + 3000  # nothing for 2 (period - budget), then 3 ms


@pytest.mark.parametrize(
    ("cpus", "text", "words"),
    [
        ("[0]", "20ms", "a quota and a period, such as 20ms 100ms"),
        ("[0]", "20ms 0ms", "greater than 0"),
        ("[0, 1]", "100ms 100ms", "guarantees nothing to core 0"),
    ],
)
def test_a_quota_that_says_nothing_is_refused(
    tmp_path: Path, cpus: str, text: str, words: str
) -> None:
    head = f"cpus: {cpus}\ncores: {{0: {{supply: {{cpu_max: {text}}}}}}}\n"
    with pytest.raises(TaktError) as caught:
        read_application(app(tmp_path, f"{head}nodes: {{n: {{c: {{timer: 9ms, wcet: 3ms}}}}}}\n"))
    assert words in str(caught.value.what)
    assert ":2" in str(caught.value.where)


def test_a_measured_supply_counts_and_the_verdict_says_with_which_confidence(
    tmp_path: Path, takt: Callable[..., object]
) -> None:
    done = takt("analyse", app(tmp_path), "--supply", supply_file(tmp_path))
    output = done.stdout  # type: ignore[attr-defined]
    assert (
        "meets, assuming the measured supply, latency of core 1 (100 windows of 50 ms; with 95 % "
        "confidence at most 4.66 % provide less)" in output
    )
    assert "3.3125 ms" in output  # 2 ms, and 1.05 ms at a rate of 0.8


def test_only_the_cores_of_the_application_are_taken(tmp_path: Path) -> None:
    document = flat(read_application(app(tmp_path)))
    add_supply(document, supply_file(tmp_path))
    assert [core["cpu"] for core in document["cores"]] == [1]


@pytest.mark.parametrize(
    ("text", "supply", "words"),
    [
        (APP.replace("1]", "1, 2]"), MEASURED, "core 2 of the application is missing"),
        (f"cores: {{1: {{latency: 1ms}}}}\n{APP}", MEASURED, "is described in the application"),
        (APP, "cores: {1: {suply: {}}}", "did you mean supply?"),
        (APP, "nodes: {}", "this is an application file"),
    ],
)
def test_a_supply_that_does_not_fit_is_refused(
    tmp_path: Path, text: str, supply: str, words: str
) -> None:
    document = flat(read_application(app(tmp_path, text)))
    with pytest.raises(TaktError) as caught:
        add_supply(document, supply_file(tmp_path, supply))
    assert words in str(caught.value)


class _Kernel:
    """A made-up /proc and /sys/fs/cgroup."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._groups = folder / "groups"
        self._process = folder / "proc" / "7"
        (self._process / "task" / "7").mkdir(parents=True)
        monkeypatch.setattr(reservation, "PROC", folder / "proc")
        monkeypatch.setattr(reservation, "GROUPS", self._groups)
        monkeypatch.setattr(reservation, "deadline_of", lambda _: None)

    def joined(self, line: str) -> None:
        (self._process / "cgroup").write_text(f"3:memory:/x\n{line}\n", encoding="ascii")

    def limit(self, path: str, text: str) -> None:
        file = self._groups / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="ascii")


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Kernel:
    return _Kernel(tmp_path, monkeypatch)


def test_the_quota_of_a_process_may_be_that_of_a_group_above(kernel: _Kernel) -> None:
    kernel.joined("0::/robot/app")
    kernel.limit("robot/app/cpu.max", "max 100000\n")
    kernel.limit("robot/cpu.max", "20000 100000\n")
    assert reservation.reservation(7).cpu_max == "20000 100000"


def test_a_quota_of_version_1_is_read(kernel: _Kernel) -> None:
    kernel.joined("1:cpu,cpuacct:/app")
    kernel.limit("cpu/cpu.cfs_quota_us", "-1\n")
    kernel.limit("cpu/cpu.cfs_period_us", "100000\n")
    kernel.limit("cpu/app/cpu.cfs_quota_us", "30000\n")
    kernel.limit("cpu/app/cpu.cfs_period_us", "100000\n")
    assert reservation.reservation(7).cpu_max == "30000 100000"


def test_two_quotas_are_not_one(kernel: _Kernel) -> None:
    kernel.joined("0::/robot/app")
    kernel.limit("robot/app/cpu.max", "20000 100000\n")
    kernel.limit("robot/cpu.max", "50000 100000\n")
    with pytest.raises(TaktError, match="several quotas"):
        reservation.reservation(7)


def test_a_process_without_any_reservation_is_refused(kernel: _Kernel) -> None:
    kernel.joined("0::/app")
    with pytest.raises(TaktError, match="no SCHED_DEADLINE reservation"):
        reservation.reservation(7)


def test_a_process_that_is_gone_is_refused(kernel: _Kernel) -> None:
    with pytest.raises(TaktError, match="cannot be read"):
        reservation.reservation(8)


def test_a_sched_deadline_reservation_is_read_from_the_kernel(tmp_path: Path) -> None:
    command = ["chrt", "--deadline", "--sched-runtime", "2000000", "--sched-deadline", "5000000"]
    command += ["--sched-period", "10000000", "0", sys.executable, "-c"]
    command += ["print(flush=True); input()"]
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError:
        pytest.skip("chrt is missing")
    with process:
        if process.stdout is None or not process.stdout.readline():
            process.wait()
            pytest.skip("the kernel refuses SCHED_DEADLINE")
        document = flat(read_application(app(tmp_path)))
        add_supply(document, str(process.pid))
        process.communicate(b"\n")
    assert document["cores"] == [{"cpu": 1, "supply": {"budget": 2_000_000, "period": 10_000_000}}]
    assert reservation.deadline_of(os.getpid()) is None
