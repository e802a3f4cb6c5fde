# SPDX-License-Identifier: Apache-2.0
"""Krukiewicz-Gacek 2021: the baselines by rclcpp's own executor where it is, else by a copy."""

from __future__ import annotations

from pathlib import Path

import pytest
from executed import skip_without_rclcpp
from rendering import none_rendered
from synthetic_executions import EVERY

from takt.bench.overhead import published
from takt.errors import TaktError
from takt.reproduce.krukiewicz2021 import answers, beginning, overhead
from takt.reproduce.krukiewicz2021.beginning import COPY, RCLCPP, Baselines, begin
from takt.reproduce.krukiewicz2021.executions import Executions, Extent, approach_of
from takt.reproduce.model import Outcome, Request
from takt.schedule.execution.model import APPROACHES


def with_rclcpp(monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    monkeypatch.setattr(beginning, "_has_rclcpp", lambda: there)


def test_a_folder_is_gone_on_with_at_its_own_scale_only(tmp_path: Path) -> None:
    begin(tmp_path, 0.002)
    begin(tmp_path, 0.002)
    with pytest.raises(TaktError, match=r"scale 0\.002, not 1"):
        begin(tmp_path, 1.0)


def test_a_folder_is_gone_on_with_by_the_executor_with_which_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, copied, former = (tmp_path / name for name in ("own", "copied", "former"))
    for folder in (own, copied, former):
        folder.mkdir()
    with_rclcpp(monkeypatch, there=False)
    assert begin(copied, 1.0).baselines == COPY
    with_rclcpp(monkeypatch, there=True)
    assert begin(copied, 1.0).baselines == COPY
    (former / beginning.SCALE).write_text('{"scale": 1.0}')
    assert begin(former, 1.0).baselines == COPY
    assert begin(own, 1.0).baselines == RCLCPP
    assert begin(own, 1.0).baselines == RCLCPP
    with_rclcpp(monkeypatch, there=False)
    with pytest.raises(TaktError, match="executed by rclcpp, which is not here") as error:
        begin(own, 1.0)
    assert "rclcpp" in str(error.value.fix)


def test_rclcpp_takes_the_place_of_the_baseline_only() -> None:
    by = {one: {approach_of(point, one) for point in EVERY} for one in (RCLCPP, COPY)}
    assert by == {RCLCPP: {"rclcpp_baseline1", "takt"}, COPY: {"baseline1", "takt"}}
    assert by[RCLCPP] < {*APPROACHES}
    assert {*overhead.APPROACHES.values()} < {*APPROACHES}


@pytest.mark.parametrize(
    ("baselines", "by"), [(RCLCPP, "single-threaded executor of the rclcpp"), (COPY, "on rcl")]
)
def test_the_page_says_who_executed_the_baselines(
    tmp_path: Path, baselines: Baselines, by: str
) -> None:
    extent = Extent(points=EVERY[:2], runs=2, length_s=1.0, left_out=0)
    with none_rendered():
        found: Outcome = answers(extent, Executions(), [], tmp_path, Request(draws=20), baselines)
    (said,) = [one.here for one in found.deviations if "baseline0 and baseline1" in one.paper]
    assert by in said


def test_the_overheads_are_of_the_applications_of_the_tables() -> None:
    _, tables = published()
    for table in tables:
        wanted = table.application
        application = overhead.flat(wanted, 3)
        callbacks = application["callbacks"]
        assert application["cpus"] == [3]
        assert len({one["node"] for one in callbacks}) == len(callbacks) == wanted.nodes
        assert sum("writes" in one for one in callbacks) == wanted.nodes * wanted.publishers
        assert sum("reads" in one for one in callbacks) == wanted.nodes * wanted.subscribers
        assert {one["period"] // 1_000_000 for one in callbacks} == {*wanted.periods_ms}
        used = sum(one["execution"]["worst"] / one["period"] for one in callbacks)
        assert used == pytest.approx(0.5)
        by_period = {one["period"]: one["priority"] for one in callbacks}
        fastest_first = [by_period[one] for one in sorted(by_period)]
        assert fastest_first == sorted(fastest_first, reverse=True)
        own = {(one["writes"][0], one["node"]) for one in callbacks if "writes" in one}
        read = {(one["reads"][0]["topic"], one["node"]) for one in callbacks if "reads" in one}
        assert own.isdisjoint(read)


@pytest.mark.parametrize("executor", ["baseline0", "takt"])
def test_rclcpp_has_the_columns_of_the_tables(executor: str) -> None:
    skip_without_rclcpp(overhead.APPROACHES[executor])
    columns, (small, *_) = published()
    found = overhead.by_rclcpp(small.application, executor, 0)
    assert {*columns} <= {*found}
    assert 0 < found["min"] <= found["median"] <= found["max"]
