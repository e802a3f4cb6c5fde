# SPDX-License-Identifier: Apache-2.0
"""``takt bench vendors``: a probe against the vendor's own tool, on both sides of the limit."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from takt.bench import BENCHES, OF_STACK
from takt.errors import Failure
from takt.network import rmw, stacks

vendors = importlib.import_module("takt.bench.vendors")  # its function has the same name
PRINTED = """[8] participant vm:8: new (self)
[8] 1.000  vm:3 size 532 mean 99.2us min 18.8us 50% 90.9us 90% 97.9us 99% 95.9us max 9us cnt 991
[8] 1.000  rss:7.3MB vcsw:3024 ivcsw:0 ddsperf:3%+1% recvUC:0%+1%
[8] 2.000  vm:3 size 532 mean 32.5us min 16.5us 50% 31.5us 90% 42.3us 99% 55.5us max 9us cnt 999
[8] 3.000  vm:3 size 532 mean 29.7us min 16.8us 50% 29.0us 90% 38.4us 99% 49.5us max 9us cnt 1000
[8] 4.000  vm:3 size 532 mean 31.2us min 16.8us 50% 30.0us 90% 42.9us 99% 62.5us max 9us cnt 998
"""


def test_what_ddsperf_reports_is_half_a_round_trip_and_its_first_second_is_left_out() -> None:
    assert vendors.parsed(PRINTED) == {"p50_us": 60.0, "p99_us": 111.0}


@pytest.mark.parametrize("printed", ["", "\n".join(PRINTED.splitlines()[:3]), "no peer"])
def test_a_ddsperf_without_round_trips_is_reported(printed: str) -> None:
    with pytest.raises(Failure, match="reported no round trips"):
        vendors.parsed(printed)


@pytest.mark.parametrize(("probe", "holds"), [(100.0, True), (109.9, True), (110.1, False)])
def test_the_probe_is_judged_against_the_tool_that_waits_as_it_does(
    monkeypatch: pytest.MonkeyPatch, probe: float, holds: bool
) -> None:
    figures = {"waitset": 100.0, "listener": 50.0}

    def measured(p50: float) -> dict[str, float]:
        return {"p50_us": p50, "p99_us": 2 * p50}

    def ddsperf(mode: str, cpu: int, around: Mapping[str, str], domain: int) -> dict[str, float]:
        assert "127.0.0.1" in around["CYCLONEDDS_URI"]
        return measured(figures[mode])

    monkeypatch.setattr(vendors.pairs, "round_trip", lambda *_: measured(probe))
    monkeypatch.setattr(vendors, "_ddsperf", ddsperf)
    monkeypatch.setattr(stacks, "program", Path)
    done = vendors.vendors(3, 0, lambda _: None)
    (bar,) = done.bars
    assert (bar.holds, bar.limit) == (holds, 1.1)
    assert bar.detail["probe_over_listener_p50"] == pytest.approx(probe / 50)


def test_a_ddsperf_that_fails_is_named(tmp_path: Path) -> None:
    failing = tmp_path / "ddsperf"
    failing.write_text("#!/bin/sh\necho no such interface >&2; exit 2\n")
    failing.chmod(0o755)
    with pytest.raises(Failure, match=r"ddsperf: exit code 2: no such interface"):
        vendors.pairs.pair(["sleep", "60"], [failing], {})


def test_what_needs_a_stack_that_is_not_everybodys_is_known() -> None:
    assert set(OF_STACK) <= set(BENCHES)
    assert set(OF_STACK.values()) <= {*stacks.ON_REQUEST, rmw.RCL, rmw.RCLCPP}
