# SPDX-License-Identifier: Apache-2.0
"""``takt bench rclcpp``: Takt's executor against the best of rclcpp's, from known figures."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

from takt.bench.model import Bar, Bench
from takt.errors import Failure
from takt.network import stacks
from takt.network.domain import own_domain

bench = importlib.import_module("takt.bench.rclcpp")  # its function has the same name
# Of every mode; the executors differ by what the test says.
FIGURES = {
    "cpu_us_per_callback": 10.0,
    "p50_us": 10.0,
    "p99_us": 100.0,
    "executed_share": 1.0,
    "calls_share": 1.0,
    "start_ms": 1.0,
    "added_ms": 1.0,
    "added_max_ms": 1.0,
    "churn_ms": 1.0,
    "churn_cpu_ms": 1.0,
    "shutdown_ms": 1.0,
}


def measured(monkeypatch: pytest.MonkeyPatch, **by_executor: dict[str, float]) -> Bench:
    """Three rounds whose figures are those of FIGURES but for what is said of an executor."""

    def measure(case: bench.Case, executor: str, cpu: int, domain: int) -> dict[str, float]:
        found = {**FIGURES, **by_executor.get(executor, {})}
        if case.mode == "wakeup":
            found = FIGURES
        return {name: found[name] for name in case.figures}

    monkeypatch.setattr(bench, "_measure", measure)
    monkeypatch.setattr(bench, "executors", lambda: [*bench.PEERS, bench.TAKT])
    return bench.rclcpp(3, 0, lambda _: None)


def bar(done: Bench, words: str) -> Bar:
    (found,) = [one for one in done.bars if words in one.name]
    return found


@pytest.mark.parametrize(
    ("words", "figure", "limit"),
    [
        ("10 timers, aligned", "cpu_us_per_callback", 0.75),
        ("200 timers, spread", "cpu_us_per_callback", 0.75),
        ("by pointer: CPU", "cpu_us_per_callback", 0.9),
        ("through the middleware", "cpu_us_per_callback", 1.0),
        ("round trip of 500 B by pointer", "p50_us", 0.9),
        ("between two processes", "p50_us", 1.02),
    ],
)
def test_takt_is_compared_with_the_best_of_the_others(
    monkeypatch: pytest.MonkeyPatch, words: str, figure: str, limit: float
) -> None:
    for share in (0.99, 1.01):
        done = measured(
            monkeypatch,
            events={figure: 5.0},
            takt={figure: 5.0 * limit * share},
        )
        one = bar(done, words)
        assert (one.limit, one.holds) == (limit, share < 1)
        assert one.detail["best"] == "events"


@pytest.mark.parametrize(
    ("words", "figure", "limit"),
    [
        ("first call", "start_ms", 5.0),
        ("node added", "added_ms", 2.0),
        ("created, heard, destroyed", "churn_ms", 5.0),
        ("return of spin()", "shutdown_ms", 2.0),
    ],
)
def test_what_comes_and_goes_has_a_limit_in_time(
    monkeypatch: pytest.MonkeyPatch, words: str, figure: str, limit: float
) -> None:
    for value in (limit, limit + 0.1):
        done = measured(monkeypatch, takt={figure: value})
        # The first call is of two bars: of the start, and of a node that is added.
        one = next(one for one in done.bars if words in one.name)
        assert (one.limit, one.value, one.holds) == (limit, value, value == limit)


def test_a_timer_beside_a_burning_callback_is_held_to_a_bare_wake_up_and_to_all_its_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = measured(monkeypatch, takt={"p99_us": 151.0, "calls_share": 0.8})
    assert bar(done, "bare wake-up").value == pytest.approx(1.51)
    assert not bar(done, "bare wake-up").holds
    lost = bar(done, "calls that are lost")
    assert lost.value == pytest.approx(0.2)
    assert not lost.holds


def test_an_executor_that_this_rclcpp_lacks_is_left_out_and_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured(monkeypatch)
    monkeypatch.setattr(bench, "executors", lambda: ["single_threaded", "takt"])
    done = bench.rclcpp(1, 0, lambda _: None)
    assert len(done.notes) == 3
    assert set(done.tables[0].measured) == {"single_threaded", "takt"}


def test_without_rclcpp_the_bench_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAKT_PREFIX", str(tmp_path))
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    with pytest.raises(Failure, match="bench_rclcpp is not installed") as failure:
        bench.rclcpp(1, 0, lambda _: None)
    assert "source a ROS 2 installation" in str(failure.value.fix)


@pytest.mark.parametrize("executor", [*bench.PEERS, bench.TAKT])
@pytest.mark.parametrize("mode", ["timers", "messages", "pingpong", "burns", "life"])
def test_each_mode_answers_with_its_figures(mode: str, executor: str) -> None:
    try:
        stacks.program(bench.PROGRAM)
    except Failure:
        pytest.skip("bench_rclcpp is not installed: there is no rclcpp")
    if reason := _no_real_time():
        pytest.skip(reason)
    if executor not in bench.executors():
        pytest.skip(f"this rclcpp has no executor {executor}")
    case = next(one for one in bench.cases() if one.mode == mode)
    smaller = {"duration_ms": 100, "nodes": 2, "callbacks": 4}
    short = {key: smaller.get(key, value) for key, value in case.options.items()}
    cpu = max(os.sched_getaffinity(0))
    with own_domain() as domain:
        found = bench._measure(
            bench.Case(case.title, mode, short, case.figures), executor, cpu, domain
        )
    assert set(found) == set(case.figures)
    assert all(value >= 0 for value in found.values())


def _no_real_time() -> str:
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        return "SCHED_FIFO is not allowed here"
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return ""
