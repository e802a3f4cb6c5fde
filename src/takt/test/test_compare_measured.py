# SPDX-License-Identifier: Apache-2.0
"""``takt compare-executors --measure``: an application executed under each executor."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from executed import robot

from takt.errors import Failure
from takt.processes.supervision import Stop
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.executors import measured
from takt.schedule.executors.compare import compare
from takt.schedule.executors.model import Candidate, Comparison, Figures, Measured

REFERENCE = Path(__file__).resolve().parents[3] / "examples/reference_system.app.yaml"


def figures(name: str, p99: list[float], bound: float | None = None, longest: float = 0) -> Figures:
    found = Measured(p50_us=1, p99_us=sorted(p99)[len(p99) // 2], max_us=longest or max(p99),
                     above=0, count=9, p99_of_rounds_us=p99)  # fmt: skip
    return Figures(name=name, limit_us=None, bound_us=bound, verdict="meets", p50_us=1, p99_us=1,
                   max_us=1, above=0, measured=found)  # fmt: skip


def candidate(name: str, *chains: Figures) -> Candidate:
    return Candidate(executor=name, policy=None, refused=None, verdict="meets", callbacks=[],
                     chains=list(chains))  # fmt: skip


def said(*candidates: Candidate, overheads: bool = True) -> list[str]:
    return list(measured.findings(candidates, overheads=overheads))


def test_an_executor_is_slower_only_if_it_is_in_every_round() -> None:
    *_, found = said(
        candidate("a", figures("hot", [10, 11, 12])),
        candidate("b", figures("hot", [13, 14, 15])),
        candidate("c", figures("hot", [11.5, 40, 50])),
    )
    assert found == (
        "hot: the lowest p99 under a (11 µs); above it in every round: b 14 µs; "
        "1 not shown to differ from it"
    )


def test_bounds_that_were_exceeded_are_named_and_whether_they_count_overheads() -> None:
    over, kept = figures("hot", [10.0], 10, longest=10.5), figures("cold", [10.0], 11)
    assert said(candidate("a", over, kept))[0] == (
        "a: 1 of 2 bounds exceeded (hot); 0 above their limits"
    )
    without = said(candidate("a", kept), overheads=False)
    assert without[0] == "a: 0 of 1 bounds exceeded; 0 above their limits"
    assert "count no overheads" in without[1]
    assert said(candidate("a")) == []


def compared(
    monkeypatch: pytest.MonkeyPatch, failing: str = "", interrupted_at: int = 0
) -> tuple[Comparison, list[str]]:
    asked: list[str] = []

    def once(one: Candidate, document: dict[str, Any], seconds: float, seed: int, _: Stop) -> Any:
        assert seconds == 0.1
        asked.append(one.name)
        if one.name == failing:
            raise Failure("it broke")
        if len(asked) == interrupted_at:
            os.kill(os.getpid(), signal.SIGINT)
            return None
        return measured.Metrics.model_construct(callbacks=[], chains=[])

    monkeypatch.setattr(measured, "_once", once)
    return compare(robot(), "robot", duration=100_000_000, measure_s=0.1), asked


def test_the_executors_take_turns_and_one_that_fails_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, asked = compared(monkeypatch, "takt edf")
    able = [one.name for one in found.candidates if one.refused is None]
    assert asked.count("takt edf") == 1
    assert {asked.count(one) for one in able if one != "takt edf"} == {measured.ROUNDS}
    assert sorted(asked[: len(able)]) == sorted(able)
    why = {one.name: one.not_measured for one in found.candidates if one.not_measured}
    assert why == {"takt edf": "it broke"}
    assert (found.measured_s, found.rounds) == (0.1, measured.ROUNDS)


@pytest.mark.parametrize("full", [0, 1])
def test_an_interrupt_ends_all_executions_and_keeps_what_was_executed(
    monkeypatch: pytest.MonkeyPatch, full: int
) -> None:
    candidates = compare(robot(), "robot", duration=100_000_000).candidates
    able = [one.name for one in candidates if one.refused is None]
    at = full * len(able) + 2
    found, asked = compared(monkeypatch, interrupted_at=at)
    assert len(asked) == at
    why = {one.name for one in found.candidates if one.not_measured}
    assert why == ({*able} - {asked[0]} if not full else set())
    assert found.rounds == full + 1
    assert found.findings[0] == (
        f"stopped: {full} of 3 rounds are complete; 1 of {len(able)} executors were executed "
        "once more"
    )


@pytest.mark.usefixtures("app_runner")
def test_an_execution_has_the_callbacks_and_chains_of_the_comparison() -> None:
    document = robot()
    own = compare(document, "robot", duration=100_000_000).candidates[0]
    run = measured._once(own, document, 0.4, 1, Stop())
    assert run is not None
    for one in own.callbacks:
        assert measured._callback(one, [run, run]).measured is not None
    (chain,) = own.chains
    found = measured._chain(chain, [run, run]).measured
    assert found is not None
    assert len(found.p99_of_rounds_us) == 2
    assert 0 < found.p50_us <= found.p99_us <= found.max_us


def test_the_reference_system_has_the_graph_and_half_of_a_core() -> None:
    application = flat(read_application(REFERENCE))
    callbacks = application["callbacks"]
    assert len({one["node"] for one in callbacks}) == 24
    assert len({one["name"] for one in callbacks}) == 30
    found = compare(application, "reference", duration=1_200_000_000, limit=0.0).candidates[0]
    of = {one.name: one for one in found.chains}
    assert {*of} == {"hot", "localize", "drive"}
    for one in of.values():
        assert one.max_us is not None
        assert one.bound_us is not None
        assert one.max_us <= one.bound_us
