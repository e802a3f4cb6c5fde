# SPDX-License-Identifier: Apache-2.0
"""The simulator from Python: documents in and out, refusals, progress, many at once."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

takt_core = pytest.importorskip("takt_core", reason="the C++ workspace is not built")


def application(policy: str = "fp", **more: Any) -> str:
    callbacks = [
        {"name": "fast", "period": 5_000_000, "priority": 20, "execution": {"worst": 2_000_000}},
        {"name": "slow", "period": 7_000_000, "priority": 10, "execution": {"worst": 4_000_000}},
    ]
    return json.dumps(
        {"version": 1, "name": "two", "policy": policy, "callbacks": callbacks, **more}
    )


def test_a_document_reports_what_became_of_each_callback() -> None:
    document = takt_core.simulate(application(), duration_ns=10_000_000)
    assert document["schema_version"] == 1
    assert (document["jobs"], document["misses"]) == (3, 1)
    fast, slow = document["callbacks"]
    assert (fast["callback"], fast["misses"], slow["misses"]) == ("fast", 0, 1)
    assert slow["worst_response_ns"] == 8_000_000
    assert slow["response"]["p50_us"] == pytest.approx(8000, rel=0.01)
    assert document["cores"][0]["utilization"] == pytest.approx(0.8)  # the release at 7 was skipped
    json.dumps(document, allow_nan=False)


def test_edf_meets_what_rate_monotonic_misses() -> None:
    assert takt_core.hyperperiod(application()) == 35_000_000
    document = takt_core.simulate(application("edf"))
    assert document["duration_ms"] == 70
    assert document["duration_from"] == "two hyperperiods and the largest offset"
    assert document["misses"] == 0


def test_many_report_the_faulty_one_in_its_place() -> None:
    one, faulty, two = takt_core.simulate_many(
        [application(), application("no policy"), application("edf")]
    )
    assert "no policy" in faulty["error"]
    assert (one["misses"] > 0, two["misses"]) == (True, 0)
    assert "p99_us" not in one["callbacks"][0]["response"]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("{", "not JSON"),
        (application("fifo"), "fifo"),
        (application(cpus=[]), "core"),
    ],
)
def test_what_an_executor_refuses_is_a_value_error(document: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        takt_core.simulate(document)


def test_a_trace_that_cannot_be_written_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot create the trace"):
        takt_core.simulate(application(), trace=str(tmp_path / "none" / "trace"))


def test_progress_can_end_it_and_its_exception_comes_out() -> None:
    shares: list[float] = []

    def watch(share: float) -> bool:
        shares.append(share)
        return share < 0.5

    document = takt_core.simulate(application(), duration_ns=4000 * 10**9, progress=watch)
    assert document["interrupted"]
    assert 0.5 <= shares[-1] < 1
    assert document["duration_ms"] == pytest.approx(shares[-1] * 4_000_000)

    def fail(_share: float) -> bool:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        takt_core.simulate(application(), duration_ns=4000 * 10**9, progress=fail)


def test_other_threads_run_meanwhile() -> None:
    done = threading.Event()
    ticks = 0

    def count() -> None:
        nonlocal ticks
        while not done.wait(0.001):
            ticks += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = ticks
    takt_core.simulate_many([application("edf")] * 10, duration_ns=60 * 10**9)
    during = ticks - before
    done.set()
    thread.join()
    assert during > 0
