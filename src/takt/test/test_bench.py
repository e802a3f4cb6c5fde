# SPDX-License-Identifier: Apache-2.0
"""The bars of ``takt bench`` from known figures: their limits, ratios and medians."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from takt.bench import BENCHES, overhead, overheads, programs
from takt.bench.disturbed import Disturbed
from takt.bench.model import Bar, Bench
from takt.errors import Failure
from takt.processes import leftovers, scratch

dispatch = import_module("takt.bench.dispatch")  # the package has its function by that name
HERE = Path(__file__).parent
Answers = Callable[[dict[str, Any]], Path]
COLUMNS = ("min_us", "q1_us", "median_us", "q3_us", "max_us", "mean_us", "sd_us")


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Answers:
    """Installs programs that answer as told; returns the file in which their calls gather."""
    file = tmp_path / "answers.json"

    def install(known: dict[str, Any]) -> Path:
        file.write_text(json.dumps({"calls": [], "answers": known}))
        folder = tmp_path / "prefix" / "lib" / "takt_core"
        folder.mkdir(parents=True)
        for name in known:
            program = folder / name
            program.write_text(
                f'#!/bin/sh\nexec "{sys.executable}" -IS "{HERE / "fake_bench.py"}" {name} "$@"\n'
            )
            program.chmod(0o755)
        return file

    monkeypatch.setenv("FAKE_BENCH", str(file))
    monkeypatch.setenv("TAKT_PREFIX", str(tmp_path / "prefix"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    return install


def run(name: str, rounds: int = 3) -> Bench:
    return BENCHES[name](rounds, 1, lambda _: None)


def bars(bench: Bench) -> list[tuple[float, float, bool]]:
    return [(bar.value, bar.limit, bar.holds) for bar in bench.bars]


def loops(**p99: float) -> dict[str, Any]:
    return {"rows": [{"loop": name, "p50_ns": 1000, "p99_ns": ns} for name, ns in p99.items()]}


def test_a_bar_holds_up_to_its_limit_and_not_above() -> None:
    assert Bar(name="a", value=1.5, limit=1.5, unit="ratio").holds
    assert not Bar(name="a", value=1.5001, limit=1.5, unit="ratio").holds


def test_preemption_is_judged_by_the_median_of_the_ratios_of_each_round(answers: Answers) -> None:
    rounds = [
        loops(bare=100_000, fp=140_000, edf=180_000),
        loops(bare=200_000, fp=300_000, edf=340_000),
        loops(bare=50_000, fp=500_000, edf=80_000),
    ]
    answers({"bench_executor": {"preempt": {"rounds": rounds}}})
    assert bars(run("preempt")) == [(1.5, 1.5, True), (1.7, 1.75, True)]


def test_wake_ups_are_judged_against_cyclictest_itself(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np

    def wakeups(count: int, period_us: int, priority: int, cpu: int) -> Any:
        assert (priority, cpu) == (80, 1)
        return np.full(count, 800 if period_us == 2000 else 1000)

    monkeypatch.setattr(programs, "probe_wakeups", wakeups)
    monkeypatch.setattr(programs, "cyclictest_wakeups", wakeups)
    answers({"bench_executor": {"wakeup": loops(bare=900, fp=1000, edf=5000)}})
    probe, p50, p99 = bars(run("wakeup"))
    assert probe == (1.0, 1.1, True)
    assert p50 == (1.25, 1.25, True)
    assert p99 == (1.25, 1.5, True)


def test_switch_and_trace_take_the_median_of_each_rounds_p99(answers: Answers) -> None:
    def rows(**p99: int) -> dict[str, Any]:
        return {
            "rows": [
                {"what": what, "p50_ns": 1, "p99_ns": ns, "max_ns": 10 * ns}
                for what, ns in p99.items()
            ]
        }

    switches = [rows(fp=9_000, edf=1), rows(fp=10_500, edf=2), rows(fp=99_000, edf=3)]
    events = [rows(on=101, off=1), rows(on=20, off=1), rows(on=90, off=1)]
    answers({"bench_executor": {"switch": {"rounds": switches}, "trace": {"rounds": events}}})
    assert bars(run("switch")) == [(10.5, 10.0, False), (0.002, 10.0, True)]
    assert bars(run("trace")) == [(90.0, 100.0, True)]


class Recording:
    """Switches of a core that are recorded, or refused, while it is there."""

    now = False
    looks = 0

    def __init__(self, cpus: list[int]) -> None:
        assert cpus == [1]
        self.refused: str | None = None
        Recording.now = True

    def look(self) -> None:
        Recording.looks += 1

    def close(self) -> None:
        Recording.now = False


@pytest.mark.parametrize(
    ("limits_ns", "switches_ns", "hold"),
    [(250, 4000, [True, True]), (251, 4000, [False, True]), (250, 4001, [True, False])],
)
def test_watching_is_judged_by_what_it_adds_in_the_same_round(
    answers: Answers,
    monkeypatch: pytest.MonkeyPatch,
    limits_ns: int,
    switches_ns: int,
    hold: list[bool],
) -> None:
    watch = import_module("takt.bench.watch")
    rows = [
        {"what": "without limits", "p50_ns": 900, "p99_ns": 2000},
        {"what": "with limits", "p50_ns": 900 + limits_ns, "p99_ns": 3000},
    ]
    answers({"bench_executor": {"watch": {"rows": rows}}})

    def preempted(cpu: int) -> dict[str, float]:
        return {"p50_ns": 5000.0 + switches_ns * Recording.now, "p99_ns": 9000.0}

    monkeypatch.setattr(watch, "Switches", Recording)
    monkeypatch.setattr(watch, "_preempted", preempted)
    found = run("watch")
    assert [bar.value for bar in found.bars] == [limits_ns, switches_ns]
    assert [bar.holds for bar in found.bars] == hold
    assert found.bars[1].detail["off_p50_ns"] == 5000
    assert not Recording.now


def test_switches_that_are_refused_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = import_module("takt.bench.watch")
    refused = type("Refused", (), {"__init__": lambda self, _: None, "refused": "EACCES"})
    monkeypatch.setattr(watch, "Switches", refused)
    monkeypatch.setattr(watch, "_preempted", lambda _: {"p50_ns": 1.0, "p99_ns": 1.0})
    monkeypatch.setattr(watch, "_limits", lambda _: {})
    with pytest.raises(Failure, match="EACCES"):
        run("watch")


def test_delivery_by_pointer_is_judged_by_size_by_hand_over_and_within_a_thread(
    answers: Answers,
) -> None:
    sizes = {"500": {"p50_us": 3.0}, "1000000": {"p50_us": 3.9}}
    answers(
        {
            "bench_rcl_executor": {
                "intra": {
                    "p99_us": 9,
                    "first_p50_us": 2,
                    "first_p99_us": 4,
                    "by": {"--payload": sizes, "--same-thread": {"1": {"p50_us": 0.9}}},
                },
                "handover": {"p50_us": 1.5, "p99_us": 3},
            }
        }
    )
    assert bars(run("intra")) == [
        (pytest.approx(1.3), 1.2, False), (2.0, 2.0, True), (0.9, 1.0, True),
    ]  # fmt: skip


def test_dispatch_compares_each_application_with_the_same_one_under_baseline0(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = [
        dispatch.Case(1),
        dispatch.Case(50),
        dispatch.Case(200),
        dispatch.Case(50, subscriptions=True, priorities=10),
        dispatch.Case(200, subscriptions=True),
        dispatch.Case(200, subscriptions=True, priorities=10, by_pointer=True),
    ]
    monkeypatch.setattr(dispatch, "cases", lambda: iter(chosen))
    file = answers(
        {
            "bench_rcl_executor": {
                "dispatch": {
                    "executed_share": 1,
                    "by": {
                        "--callbacks": {
                            "1": {"cpu_us_per_callback": 60},
                            "50": {"cpu_us_per_callback": 2},
                            "200": {"cpu_us_per_callback": 3},
                        },
                        "--executor": {"baseline0": {"cpu_us_per_callback": 4}},
                        "--by-pointer": {"1": {"cpu_us_per_callback": 2.4}},
                    },
                },
                "overhead": {
                    **dict.fromkeys(COLUMNS, 5),
                    "by": {"--executor": {"baseline0": dict.fromkeys(COLUMNS, 7)}},
                },
            }
        }
    )
    bench = run("dispatch", rounds=1)
    assert bars(bench) == [
        (15.0, 1.0, False), (0.5, 1.0, True), (0.75, 1.0, True), (0.5, 1.0, True),
        (0.75, 1.0, True), (0.6, 0.6, True), (1.5, 1.2, False),
    ]  # fmt: skip
    calls = [call for _, mode, call in json.loads(file.read_text())["calls"] if mode == "dispatch"]
    baseline = [call for call in calls if call["--executor"] == "baseline0"]
    assert {(call["--priorities"], call["--by-pointer"]) for call in baseline} == {("1", "0")}
    assert len(baseline) == 5  # one for each application, whatever Takt's priorities
    assert [table.table for table in bench.tables] == ["5.6", "5.7", "5.8"]
    assert bench.tables[2].measured["takt"]["mean"] == 5
    assert bench.tables[2].measured["baseline0"]["mean"] == 7
    assert bench.tables[2].published["thesis"]["mean"] == 63.67


def test_what_is_compared_is_what_is_promised() -> None:
    cases = list(dispatch.cases())
    assert len(set(cases)) == len(cases)
    for callbacks in (10, 50, 200):
        assert {
            (case.subscriptions, case.priorities, case.spread)
            for case in cases
            if case.callbacks == callbacks
        } == {(a, b, c) for a in (False, True) for b in (1, 10) for c in (False, True)}


def test_the_published_tables_grow_as_the_thesis_says() -> None:
    columns, tables = overhead.published()
    mean = columns.index("mean")
    growth = [round(100 * (one.proposed[mean] / one.baseline0[mean] - 1)) for one in tables]
    assert growth == [15, 54, 114]
    for one in tables:
        for figures in (one.baseline0, one.proposed):
            assert figures[:5] == sorted(figures[:5])


def test_overheads_hold_for_both_policies_and_their_upper_figures_for_every_round(
    answers: Answers,
) -> None:
    def executor(scale: int) -> dict[str, Any]:
        figures = {
            ("fp", "dispatch"): 200, ("fp", "release"): 1000, ("fp", "preempted"): 5000,
            ("edf", "dispatch"): 300, ("edf", "release"): 4000, ("edf", "preempted"): 5300,
        }  # fmt: skip
        return {
            "rows": [
                {"policy": policy, "what": what, "p50_ns": ns, "p99_ns": scale * ns}
                for (policy, what), ns in figures.items()
            ]
        }

    def messages(base: int) -> dict[str, int]:
        return {
            "publish_p50_ns": base, "publish_p99_ns": 2 * base,
            "deliver_p50_ns": 500, "deliver_p99_ns": 700,
        }  # fmt: skip

    answers(
        {
            "bench_executor": {"overheads": {"rounds": [executor(2), executor(3), executor(2)]}},
            "bench_rcl_executor": {
                "messages": {
                    "by": {"--payload": {"64": messages(1000), str(256 * 1024): messages(26_600)}}
                }
            },
        }
    )
    disturbed = Disturbed()
    document = overheads.overheads(3, 1, lambda _: None, disturbed).model_dump()
    assert (document.pop("measurements"), disturbed.measurements) == (9, 9)
    for key in ("disturbed", "others_seconds", "steal_seconds"):
        assert document.pop(key) == getattr(disturbed, key)
    assert document == {
        "schema_version": 1,
        "overheads": {
            "dispatch": 300, "preemption": 5000 - 200 - 1000, "release": 4000,
            "publish": 1000, "publish_per_kib": 100, "deliver": 500, "deliver_per_kib": 0,
        },
        "upper": {
            "dispatch": 900, "preemption": 15_000 - 200 - 1000, "release": 12_000,
            "publish": 2000, "publish_per_kib": 200, "deliver": 700, "deliver_per_kib": 0,
        },
        "rounds": 3,
    }  # fmt: skip


def test_without_real_time_priorities_nothing_is_compared(answers: Answers) -> None:
    refused = {
        **loops(bare=1, fp=1, edf=1),
        "not_granted": ["policy fifo at priority 80: not permitted"],
    }
    answers({"bench_executor": {"preempt": refused}})
    with pytest.raises(Failure, match=r"SCHED_FIFO is not allowed here.*not permitted"):
        run("preempt")


def test_a_bench_that_is_not_installed_is_reported(answers: Answers) -> None:
    answers({})
    with pytest.raises(Failure, match="bench_executor is not installed"):
        run("switch")


def test_the_shared_memory_of_a_bench_is_noted_and_goes_with_it() -> None:
    name = f"fastdds_{os.getpid():016x}"  # another clone's tests may run beside these
    script = f"""
import contextlib, glob, mmap, os, time
file = os.open("/dev/shm/{name}", os.O_RDWR | os.O_CREAT)
os.truncate(file, 4096)
kept = mmap.mmap(file, 4096)
limit = time.monotonic() + 150
noted = False
while not noted and time.monotonic() < limit:
    for journal in glob.glob("/dev/shm/takt-*/{leftovers.JOURNAL}"):
        with contextlib.suppress(FileNotFoundError):  # another run's, which has just ended
            noted = noted or "{name}" in open(journal).read()
    time.sleep(0.01)
print("noted" if noted else "never")
"""
    assert programs.output([sys.executable, "-IS", "-c", script]).strip() == "noted"
    assert not (scratch.MEMORY / name).exists()
