# SPDX-License-Identifier: Apache-2.0
"""Each axis of an experiment: its points, their names, and what it asks of the others."""

from __future__ import annotations

import pytest
from synthetic_plans import TWO, UDP, Installed, planned

from takt.errors import TaktError
from takt.measure.experiment.plan import estimate


def test_durability_and_history_are_axes_and_part_of_the_name() -> None:
    result = planned(
        durability=["volatile", "transient_local"], history=["keep_last", "keep_all"], repetitions=1
    )
    common = "rcl-pingpong-shm-500B-other-1kHz"
    assert {cell.key: (cell.durability, cell.history) for cell in result.cells} == {
        common: ("volatile", "keep_last"),
        f"{common}-transient_local": ("transient_local", "keep_last"),
        f"{common}-keep_all": ("volatile", "keep_all"),
        f"{common}-transient_local-keep_all": ("transient_local", "keep_all"),
    }


def test_a_string_is_part_of_the_name() -> None:
    result = planned(stack="texts", content=["bytes", "string"], payload="49B", repetitions=1)
    common = "texts-pingpong-shm-49B"
    assert {cell.key: cell.content for cell in result.cells} == {
        f"{common}-other-1kHz": "bytes",
        f"{common}-string-other-1kHz": "string",
    }


def test_threads_of_a_cell_have_a_period_and_as_many_samples_as_are_due() -> None:
    result = planned(
        stack="cyclictest", kind="wakeup", threads=[1, 3], distance="500us", duration=None,
        samples=1001, repetitions=1,
    )  # fmt: skip
    several = {cell.threads: cell for cell in result.cells}
    assert several[1].key == "cyclictest-wakeup-nanosleep-other-1kHz"
    assert several[3].key == "cyclictest-wakeup-nanosleep-other-1kHz-3threads-by500us"
    assert several[1].series == [(1000.0, 1001)]
    assert several[3].series == [(1000.0, 1001), (1500.0, 667), (2000.0, 500)]


def test_a_late_reply_may_cost_its_cycles() -> None:
    result = planned(late=["at_once", "next_cycle"], repetitions=1)
    assert sorted(cell.key for cell in result.cells) == [
        "rcl-pingpong-shm-500B-other-1kHz",
        "rcl-pingpong-shm-500B-other-1kHz-next_cycle",
    ]


def test_the_roles_may_have_a_stack_each() -> None:
    both = ["rcl,other", "other,rcl", "other", "rcl,rcl"]
    result = planned(stack=both, transport="udp", host=["here", TWO], repetitions=1)
    keys = {cell.key for cell in result.cells}
    assert len(keys) == 8
    assert "rcl+other-pingpong-udp-500B-other-1kHz" in keys
    assert "rcl-pingpong-udp-500B-other-1kHz" in keys
    pair = Installed()["rcl,other"]
    assert [pair.probe_of(role).name for role in ("pong", "ping")] == ["other", "rcl"]
    assert [pair.probe_of(role).name for role in ("subscriber", "publisher")] == ["other", "rcl"]
    assert pair.transports("pingpong") == ["udp"]


def test_conditions_are_axes_and_part_of_the_name() -> None:
    result = planned(
        transport="udp",
        host=TWO,
        link=["10Mbps", "100Mbps"],
        traffic=["none", "1.5Mbps"],
        queue="own",
        load=["none", "stress 8", "stress  2"],
    )
    keys = {cell.key for cell in result.cells}
    assert len(keys) == 12
    common = "rcl-pingpong-udp-500B-other-1kHz-host_here+namespace"
    assert f"{common}-link_10Mbps-queue_own" in keys
    assert f"{common}-link_100Mbps-queue_own-traffic_1500kbps-load_stress2" in keys
    assert f"{common}-link_100Mbps-queue_own-load_stress" in keys
    cells = {(cell.link_mbps, cell.traffic_mbps, cell.load) for cell in result.cells}
    assert (10.0, 1.5, "stress") in cells


def test_what_a_link_does_to_frames_is_in_the_names_of_points() -> None:
    result = planned(**UDP, host=TWO, delay=["0s", "1500us"], jitter="0s", loss=["0%", "0.05%"])
    common = "rcl-pingpong-udp-500B-other-1kHz-host_here+namespace-link_100Mbps"
    assert {cell.key for cell in result.cells} == {
        common,
        f"{common}-delay_1500us",
        f"{common}-loss_0.05percent",
        f"{common}-delay_1500us-loss_0.05percent",
    }
    slow = [cell for cell in result.cells if cell.delay_us]
    assert {(cell.delay_us, cell.jitter_us) for cell in slow} == {(1500.0, 0.0)}
    assert {cell.loss for cell in slow} == {0.0, 0.0005}


def test_timeouts_and_ways_of_waiting_are_axes() -> None:
    result = planned(
        kind="timer-oneshot",
        timeout=["800us", "1ms"],
        wait=["idle", "busy"],
        samples=50,
        duration=None,
    )
    assert {cell.key for cell in result.cells} == {
        "rcl-timer-oneshot-rcl_timer-other-800us",
        "rcl-timer-oneshot-rcl_timer-other-800us-busy",
        "rcl-timer-oneshot-rcl_timer-other-1ms",
        "rcl-timer-oneshot-rcl_timer-other-1ms-busy",
    }
    assert {cell.samples_requested for cell in result.cells} == {50}
    assert {(cell.period_us, cell.payload_bytes) for cell in result.cells} == {(800, 0), (1000, 0)}


def test_other_talkers_are_part_of_the_point() -> None:
    result = planned(kind="pubsub", talkers=[0, 3], talker_rate="50Hz", start_delay="2s")
    assert sorted({cell.key for cell in result.cells}) == [
        "rcl-pubsub-shm-500B-other-1kHz",
        "rcl-pubsub-shm-500B-other-1kHz-3talkers50Hz",
    ]
    assert {(cell.talkers, cell.talker_period_us) for cell in result.cells} == {(0, 0), (3, 20_000)}
    assert {cell.start_delay_us for cell in result.cells} == {2_000_000}


def test_the_executor_is_an_axis_of_rclcpp_and_the_first_one_is_its_default() -> None:
    cells = planned(stack=["rclcpp", "rcl"], repetitions=1).cells
    assert {cell.stack: cell.executor for cell in cells} == {
        "rclcpp": "single_threaded",
        "rcl": "",
    }
    both = planned(stack="rclcpp", executor=["events", "takt"], repetitions=1).cells
    assert {cell.executor for cell in both} == {"events", "takt"}
    assert len({cell.key for cell in both}) == 2
    assert all(f"-{cell.executor}-" in cell.key for cell in both)


def test_threads_of_a_dds_have_one_priority_or_two() -> None:
    keys = {"scheduling": "fifo 80", "cpu": 1}
    cells = planned(dds_priority=["inherited", 75, "70 - 80"], **keys).cells
    asked = {cell.dds_priority: cell.key for cell in cells}
    assert set(asked) == {"", "75", "70-80"}
    assert "-fifo80-dds70to80-cpu1-" in asked["70-80"]
    assert "-fifo80-dds75-cpu1-" in asked["75"]
    assert "dds" not in asked[""]
    for wrong in ("80-70", 0, 99, "70-", True, "some", [[70, 80]]):
        with pytest.raises(TaktError, match="dds-priority"):
            planned(dds_priority=wrong, **keys)


def test_only_threads_of_a_dds_at_a_real_time_policy_have_priorities() -> None:
    with pytest.raises(TaktError, match="other has no priorities"):
        planned(dds_priority=75)
    with pytest.raises(TaktError, match="raw has no threads of a DDS"):
        planned(stack="raw", transport="udp", dds_priority=75, scheduling="fifo 80")
    with pytest.raises(TaktError, match="has no dds_priority"):
        planned(kind="wakeup", stack="raw", dds_priority=75, scheduling="fifo 80")


def test_exclusive_cores_are_named_and_of_this_machine() -> None:
    cells = planned(cores=["shared", "alone"], cpu=1, repetitions=1).cells
    assert sorted("-cpu1-alone-" in cell.key for cell in cells) == [False, True]
    with pytest.raises(TaktError, match="exclusive cores need a CPU"):
        planned(cores="alone")
    with pytest.raises(TaktError, match="exclusive cores apply only"):
        planned(cores="alone", cpu="0,1", host="here,robot", **UDP)


def test_the_allocator_is_one_that_the_stack_has() -> None:
    cells = planned(allocator=["heap", "tlsf"], repetitions=1).cells
    assert sorted("-tlsf-" in cell.key for cell in cells) == [False, True]
    with pytest.raises(TaktError, match="raw has no allocator tlsf"):
        planned(stack="raw", transport="udp", allocator="tlsf")
    with pytest.raises(TaktError, match="has no allocator"):
        planned(kind="wakeup", stack="raw", allocator="heap")


def test_workers_take_time_and_under_load_more() -> None:
    here = planned().cells[0]
    apart = here.model_copy(update={"host": "pc,arm"})
    loaded = apart.model_copy(update={"load": "none,stress"})
    assert estimate(here) + 2 < estimate(apart) < estimate(loaded) - 5
    assert estimate(here) == estimate(here.model_copy(update={"load": "stress"}))
