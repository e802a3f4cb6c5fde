# SPDX-License-Identifier: Apache-2.0
"""The plan: every point as often as asked, in an order that only the seed decides."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.errors import TaktError
from takt.measure.experiment.faults import Machine
from takt.measure.experiment.file import Source, check
from takt.measure.experiment.plan import Plan, plan
from takt.measure.results.model import Cell
from takt.processes.stacks import Capability, Stack, Stacks

TRANSPORTS = ("shm", "udp", "process")
PAYLOADS = ("0B", "500B", "32KB", "1MB")
RATES = ("1kHz", "500Hz", "3Hz")
SCHEDULING = ("other", "fifo 80", "rr 10")
CPUS = ("any", "0", "1", "0,1")
TWO = "here,namespace"
UDP = {"transport": "udp"}
FIXED = {"transport": "fixed", "payload": "64B"}
QUALITY: dict[str, Any] = {
    "durabilities": ["volatile", "transient_local"],
    "histories": ["keep_last", "keep_all"],
}
ALL_KEPT = {"durability": "transient_local", "history": "keep_all"}
MACHINE = Machine(frozenset({0, 1}), 1 << 30)


class Installed(Stacks):
    """Stacks without executables."""

    def __init__(self) -> None:
        capabilities = [
            Capability(
                kind=kind,
                transport=transport,
                roles=roles,
                wire="rtps" if transport == "udp" else None,
                **QUALITY,
                dds=True,
                allocators=["heap", "tlsf"],
            )
            for kind, roles in (
                ("pingpong", ["pong", "ping"]),
                ("pubsub", ["subscriber", "publisher"]),
            )
            for transport in TRANSPORTS
        ]
        alone = Capability(kind="pubsub", transport="alone", roles=["both"])
        fixed = Capability(
            kind="pingpong", transport="fixed", roles=["both"], fixed_payload_bytes=[64, 4096]
        )
        raw = Capability(kind="wakeup", transport="nanosleep", roles=["both"])
        several = raw.model_copy(update={"threads": True})
        text = capabilities[0].model_copy(update={"contents": ["bytes", "string"]})
        small = Capability(
            kind="pingpong",
            transport="udp",
            roles=["pong", "ping"],
            max_payload_bytes=65_000,
            wire="raw",
        )
        waits = {"timer-oneshot": ["idle", "busy"], "timer-cyclic": ["idle"]}
        timers = [
            Capability(kind=kind, transport=transport, roles=["both"], waits=waits[kind])
            for kind, transport in (
                ("timer-oneshot", "rcl_timer"),
                ("timer-cyclic", "rcl_timer"),
                ("timer-cyclic", "executor"),
            )
        ]
        executors = {"executors": ["single_threaded", "events", "takt"]}
        rclcpp = [one.model_copy(update=executors) for one in (*capabilities, timers[0])]
        known = ("rcl", "raw", "other", "iceoryx2", "zenoh", "rclcpp", "cyclictest", "texts")
        super().__init__({name: Path(name) for name in known})
        self._asked["cyclictest"] = Stack("cyclictest", Path("cyclictest"), [several])
        self._asked["texts"] = Stack("texts", Path("texts"), [text])
        self._asked["rclcpp"] = Stack("rclcpp", Path("rclcpp"), rclcpp)
        plain = [one.model_copy(update={key: [] for key in QUALITY}) for one in capabilities]
        for name in ("iceoryx2", "zenoh"):
            self._asked[name] = Stack(name, Path(name), plain)
        self._asked["other"] = Stack("other", Path("other"), capabilities)
        self._asked["rcl"] = Stack("rcl", Path("rcl"), [*capabilities, fixed, alone, *timers])
        self._asked["raw"] = Stack("raw", Path("raw"), [raw, small])


def planned(seed: int = 0, machine: Machine = MACHINE, **keys: Any) -> Plan:
    top = {key: keys.pop(key) for key in ("repetitions", "skip_missing") if key in keys}
    block = {"kind": "pingpong", "stack": "rcl", "duration": "1s"} | keys
    document = {"name": "x", "measurements": [block], **top}
    return plan(check(document, Source()), Source(), Installed(), machine, seed)


def axis(values: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), min_size=1, unique=True)


@settings(max_examples=30, deadline=None)
@given(
    axis(TRANSPORTS), axis(PAYLOADS), axis(RATES), axis(SCHEDULING), axis(CPUS),
    st.integers(1, 4), st.integers(0, 2**31),
)  # fmt: skip
def test_every_point_is_measured_exactly_as_often_as_asked(
    transport: list[str],
    payload: list[str],
    rate: list[str],
    scheduling: list[str],
    cpu: list[str],
    repetitions: int,
    seed: int,
) -> None:
    axes = {
        "transport": transport, "payload": payload, "rate": rate, "scheduling": scheduling,
        "cpu": cpu,
    }  # fmt: skip
    made = planned(seed, repetitions=repetitions, **axes)
    points = len(list(itertools.product(*axes.values())))
    times = Counter(cell.key for cell in made.cells)
    assert len(times) == points
    assert set(times.values()) == {repetitions}
    assert len({cell.id for cell in made.cells}) == len(made.cells)
    assert [cell.order for cell in made.cells] == list(range(len(made.cells)))
    # All points once, then all of them again: no point is ahead by more than one repetition.
    assert [cell.repetition for cell in made.cells] == [
        repetition for repetition in range(repetitions) for _ in range(points)
    ]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31))
def test_the_same_seed_gives_the_same_order(seed: int) -> None:
    axes = {"payload": list(PAYLOADS), "rate": list(RATES)}
    first, second = planned(seed, **axes), planned(seed, **axes)
    assert [cell.id for cell in first.cells] == [cell.id for cell in second.cells]


def test_other_seeds_give_other_orders() -> None:
    axes = {"payload": list(PAYLOADS), "rate": list(RATES)}
    assert len({tuple(c.key for c in planned(seed, **axes).cells) for seed in range(20)}) > 15


def two_blocks(*labels: str | None) -> Plan:
    blocks = [
        {"kind": "pingpong", "stack": "rcl", "samples": count} | ({"label": label} if label else {})
        for label, count in zip(labels, (100, 5000), strict=True)
    ]
    asked = check({"name": "x", "repetitions": 1, "measurements": blocks}, Source())
    return plan(asked, Source(), Installed(), MACHINE, 0)


def test_blocks_with_labels_may_ask_for_the_same_point() -> None:
    found = {cell.label: cell for cell in two_blocks("2.B", "5.A").cells}
    assert found["2.B"].key == "rcl-pingpong-shm-500B-other-1kHz-2.B"
    assert (found["2.B"].samples_asked, found["5.A"].samples_asked) == (100, 5000)
    assert {cell.label for cell in two_blocks(None, "5.A").cells} == {"", "5.A"}


@pytest.mark.parametrize("labels", [(None, None), ("2.B", "2.B")])
def test_without_labels_of_their_own_they_may_not(labels: tuple[str | None, str | None]) -> None:
    with pytest.raises(TaktError, match="asked for twice"):
        two_blocks(*labels)


def test_a_key_reads_as_what_is_measured() -> None:
    made = planned(scheduling="fifo 80", cpu=1, repetitions=1)
    assert made.cells[0].key == "rcl-pingpong-shm-500B-fifo80-cpu1-1kHz"
    made = planned(
        kind="pubsub", subscribers=6, reliability="best_effort", depth=1, rate="3Hz", cpu="0,1"
    )
    assert made.cells[0].key == (
        "rcl-pubsub-shm-500B-other-cpu0+1-333333333ns-6subs-best_effort-depth1"
    )


@pytest.mark.parametrize(
    ("keys", "where", "what"),
    [
        (
            {"stack": "ros9"},
            "--stack",
            "ros9 is not installed (installed: cyclictest, iceoryx2, other, raw,",
        ),
        ({"stack": "raw", "kind": "pubsub"}, "--stack", "raw has no pubsub"),
        ({"transport": "pigeon"}, "--transport", "no transport pigeon for pingpong"),
        ({"transport": ["shm", "pigeon"]}, "--transport", "it has shm, udp, process"),
        ({"cpu": 7}, "--cpu", "may not use CPU 7"),
        ({"cpu": "0,7"}, "--cpu", "may not use CPU 7"),
        ({"stack": "raw", "kind": "wakeup", "cpu": "0,1"}, "--cpu", "has one role"),
        ({"payload": "65MiB"}, "--payload", "is more than shm carries"),
        ({"stack": "raw", "payload": "1MB"}, "--payload", "the most is 65000 bytes"),
        ({"transport": "fixed", "payload": "500B"}, "--payload", "sizes: 64B, 4096B"),
        ({"rate": "200kHz"}, "--rate", "faster than 100kHz"),
        ({"period": "1us"}, "--period", "faster than 100kHz"),
        ({"duration": "1ms"}, "--duration", "two samples are the least"),
        ({"duration": "100h"}, "--duration", "MiB of memory"),
        ({"stack": "raw", "kind": "wakeup", "depth": None, "cpu": 0, "payload": None}, None, None),
        ({"stack": "raw", "reliability": "reliable"}, "--reliability", "raw has no QoS"),
        (
            {"kind": "pubsub", "transport": "alone", "subscribers": 2},
            "--subscribers",
            "has one subscriber",
        ),
        ({"payload": ["500B", "500B"]}, "the options", "is asked for twice"),
        ({"kind": "timer-oneshot", "transport": "executor"}, "--transport", "it has rcl_timer"),
        ({"kind": "timer-oneshot", "timeout": "5us"}, "--timeout", "shorter than 10us"),
        ({"kind": "timer-oneshot", "timeout": "1ms", "cpu": "0,1"}, "--cpu", "has one role"),
        ({"kind": "timer-cyclic", "rate": "200kHz"}, "--rate", "faster than 100kHz"),
        (
            {"kind": "timer-cyclic", "transport": "executor", "scheduling": "rr 5"},
            "--scheduling",
            "no round robin",
        ),
        ({"kind": "pubsub", "transport": "alone", "talkers": 2}, "--talkers", "is one process"),
        ({"host": TWO}, "--host", "shm of rcl does not go from host to host"),
        ({"stack": "raw", "kind": "wakeup", "host": TWO}, "--host", "has one role"),
        ({**UDP, "kind": "pubsub", "talkers": 1, "host": TWO}, "--talkers", "on one host"),
        ({**UDP, "host": TWO, "traffic": "200Mbps"}, "--traffic", "on a link of 100Mbps"),
        ({**UDP, "host": ["here", TWO], "traffic": "1Mbps"}, "--traffic", "there is one"),
        ({**UDP, "host": ["here", TWO], "queue": "own"}, "--queue", "there is one"),
        ({**UDP, "host": ["here", TWO], "delay": "1ms"}, "--delay", "there is one"),
        ({**UDP, "host": TWO, "delay": "1ms", "jitter": "2ms"}, "--jitter", "more than the delay"),
        ({**UDP, "host": TWO, "delay": "2s"}, "--delay", "longer than 1s"),
        ({**UDP, "host": TWO, "loss": "100%"}, "--loss", "loses everything"),
        ({**UDP, "host": "a,b", "loss": "1%"}, "--loss", "a network of their own"),
        ({"load": "stress 99"}, "--load", "MiB of memory"),
        ({"stack": "iceoryx2", "reliability": "reliable"}, "--reliability", "no reliability"),
        ({"stack": "zenoh", "reliability": "reliable"}, "--reliability", "its transport"),
        (
            {"stack": "raw", "history": "keep_all"},
            "--history",
            "no history to choose: it has no QoS",
        ),
        ({"stack": "iceoryx2", "durability": "transient_local"}, "--durability", "comes late"),
        ({"stack": "zenoh", "history": "keep_all"}, "--history", "keep the last messages"),
        ({"stack": "raw", "kind": "wakeup", "threads": 2}, "--threads", "wakes one thread up"),
        ({"content": "string"}, "--content", "shm of rcl carries no string"),
        (
            {"stack": "texts", "content": "string", "payload": "48B"},
            "--payload",
            "no room for the head",
        ),
        (
            {"stack": "cyclictest", "kind": "wakeup", "threads": 90, "duration": "1000s"},
            "--duration",
            "for each of 90 recorders",
        ),
        ({**FIXED, "history": "keep_all"}, "--history", "has no history keep_all"),
        (
            {**ALL_KEPT, "payload": "64MiB", "samples": 100_000, "duration": None},
            "--history",
            "keeps all 100000 messages",
        ),
        ({"stack": "rcl,raw"}, "--stack", "rcl and raw do not understand each other"),
        ({"stack": "rcl,absent"}, "--stack", "absent is not installed"),
        ({"stack": "rcl,other", "transport": "shm"}, "--transport", "no transport shm"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_its_place(
    keys: dict[str, Any], where: str | None, what: str | None
) -> None:
    if where is None or what is None:
        assert planned(**keys).cells
        return
    with pytest.raises(TaktError) as caught:
        planned(**keys)
    assert where in (caught.value.where or "")
    assert what in str(caught.value)
    assert caught.value.remedy


def test_durability_and_history_are_axes_and_part_of_the_name() -> None:
    made = planned(
        durability=["volatile", "transient_local"], history=["keep_last", "keep_all"], repetitions=1
    )
    common = "rcl-pingpong-shm-500B-other-1kHz"
    assert {cell.key: (cell.durability, cell.history) for cell in made.cells} == {
        common: ("volatile", "keep_last"),
        f"{common}-transient_local": ("transient_local", "keep_last"),
        f"{common}-keep_all": ("volatile", "keep_all"),
        f"{common}-transient_local-keep_all": ("transient_local", "keep_all"),
    }


def test_a_string_is_part_of_the_name() -> None:
    made = planned(stack="texts", content=["bytes", "string"], payload="49B", repetitions=1)
    common = "texts-pingpong-shm-49B"
    assert {cell.key: cell.content for cell in made.cells} == {
        f"{common}-other-1kHz": "bytes",
        f"{common}-string-other-1kHz": "string",
    }


def test_threads_of_a_cell_have_a_period_and_as_many_samples_as_are_due() -> None:
    made = planned(
        stack="cyclictest", kind="wakeup", threads=[1, 3], distance="500us", duration=None,
        samples=1001, repetitions=1,
    )  # fmt: skip
    several = {cell.threads: cell for cell in made.cells}
    assert several[1].key == "cyclictest-wakeup-nanosleep-other-1kHz"
    assert several[3].key == "cyclictest-wakeup-nanosleep-other-1kHz-3threads-by500us"
    assert several[1].series == [(1000.0, 1001)]
    assert several[3].series == [(1000.0, 1001), (1500.0, 667), (2000.0, 500)]


def test_a_late_reply_may_cost_its_cycles() -> None:
    made = planned(late=["at_once", "next_cycle"], repetitions=1)
    assert sorted(cell.key for cell in made.cells) == [
        "rcl-pingpong-shm-500B-other-1kHz",
        "rcl-pingpong-shm-500B-other-1kHz-next_cycle",
    ]


def test_the_roles_may_have_a_stack_each() -> None:
    both = ["rcl,other", "other,rcl", "other", "rcl,rcl"]
    made = planned(stack=both, transport="udp", host=["here", TWO], repetitions=1)
    keys = {cell.key for cell in made.cells}
    assert len(keys) == 8
    assert "rcl+other-pingpong-udp-500B-other-1kHz" in keys
    assert "rcl-pingpong-udp-500B-other-1kHz" in keys
    pair = Installed()["rcl,other"]
    assert [pair.probe_of(role).name for role in ("pong", "ping")] == ["other", "rcl"]
    assert [pair.probe_of(role).name for role in ("subscriber", "publisher")] == ["other", "rcl"]
    assert pair.transports("pingpong") == ["udp"]


def test_conditions_are_axes_and_part_of_the_name() -> None:
    made = planned(
        transport="udp",
        host=TWO,
        link=["10Mbps", "100Mbps"],
        traffic=["none", "1.5Mbps"],
        queue="own",
        load=["none", "stress 8", "stress  2"],
    )
    keys = {cell.key for cell in made.cells}
    assert len(keys) == 12
    common = "rcl-pingpong-udp-500B-other-1kHz-host_here+namespace"
    assert f"{common}-link_10Mbps-queue_own" in keys
    assert f"{common}-link_100Mbps-queue_own-traffic_1500kbps-load_stress2" in keys
    assert f"{common}-link_100Mbps-queue_own-load_stress" in keys
    cells = {(cell.link_mbps, cell.traffic_mbps, cell.load) for cell in made.cells}
    assert (10.0, 1.5, "stress") in cells


def test_what_a_link_does_to_frames_is_in_the_names_of_points() -> None:
    made = planned(**UDP, host=TWO, delay=["0s", "1500us"], jitter="0s", loss=["0%", "0.05%"])
    common = "rcl-pingpong-udp-500B-other-1kHz-host_here+namespace-link_100Mbps"
    assert {cell.key for cell in made.cells} == {
        common,
        f"{common}-delay_1500us",
        f"{common}-loss_0.05percent",
        f"{common}-delay_1500us-loss_0.05percent",
    }
    slow = [cell for cell in made.cells if cell.delay_us]
    assert {(cell.delay_us, cell.jitter_us) for cell in slow} == {(1500.0, 0.0)}
    assert {cell.loss for cell in slow} == {0.0, 0.0005}


@pytest.mark.parametrize(
    ("keys", "where"), [({"load": "fft"}, "--load"), ({**UDP, "host": TWO}, "--host")]
)
def test_what_the_machine_lacks_for_a_condition_is_refused(
    keys: dict[str, Any], where: str
) -> None:
    def lacking(cell: Cell) -> tuple[str, str, str] | None:
        if cell.load == "fft":
            return "load", "stress-ng is not installed", "install it"
        return ("host", "no privilege", "be root") if cell.host != "here" else None

    machine = Machine(MACHINE.cpus, MACHINE.memory_bytes, lacking)
    assert planned(machine=machine).cells
    with pytest.raises(TaktError) as caught:
        planned(machine=machine, **keys)
    assert where in (caught.value.where or "")
    assert caught.value.remedy in ("install it", "be root")


def test_timeouts_and_ways_of_waiting_are_axes() -> None:
    made = planned(
        kind="timer-oneshot",
        timeout=["800us", "1ms"],
        wait=["idle", "busy"],
        samples=50,
        duration=None,
    )
    assert {cell.key for cell in made.cells} == {
        "rcl-timer-oneshot-rcl_timer-other-800us",
        "rcl-timer-oneshot-rcl_timer-other-800us-busy",
        "rcl-timer-oneshot-rcl_timer-other-1ms",
        "rcl-timer-oneshot-rcl_timer-other-1ms-busy",
    }
    assert {cell.samples_asked for cell in made.cells} == {50}
    assert {(cell.period_us, cell.payload_bytes) for cell in made.cells} == {(800, 0), (1000, 0)}


def test_other_talkers_are_part_of_the_point() -> None:
    made = planned(kind="pubsub", talkers=[0, 3], talker_rate="50Hz", start_delay="2s")
    assert sorted({cell.key for cell in made.cells}) == [
        "rcl-pubsub-shm-500B-other-1kHz",
        "rcl-pubsub-shm-500B-other-1kHz-3talkers50Hz",
    ]
    assert {(cell.talkers, cell.talker_period_us) for cell in made.cells} == {(0, 0), (3, 20_000)}
    assert {cell.start_delay_us for cell in made.cells} == {2_000_000}


def test_a_missing_stack_can_be_left_out() -> None:
    made = planned(stack=["ros9", "rcl", "ros9"], skip_missing=True)
    assert len(made.skipped) == 1
    assert {cell.stack for cell in made.cells} == {"rcl"}
    assert "ros9 is not installed" in made.skipped[0].why


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


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"stack": "rcl", "executor": "events"}, "has no executor to choose"),
        ({"stack": "rclcpp", "executor": "static"}, "has no executor static"),
        ({"stack": "rclcpp", "executor": "takt", "scheduling": "rr 10"}, "round robin"),
        ({"stack": "raw", "kind": "wakeup", "executor": "takt"}, "has no executor"),
        ({"stack": "rcl,rclcpp", "executor": "takt", **UDP}, "has no executor to choose"),
    ],
)
def test_an_executor_that_cannot_be_is_refused(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(TaktError, match=words):
        planned(**keys)


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


def test_cores_alone_are_named_and_of_this_machine() -> None:
    cells = planned(cores=["shared", "alone"], cpu=1, repetitions=1).cells
    assert sorted("-cpu1-alone-" in cell.key for cell in cells) == [False, True]
    with pytest.raises(TaktError, match="no core is named"):
        planned(cores="alone")
    with pytest.raises(TaktError, match="other hosts keep theirs"):
        planned(cores="alone", cpu="0,1", host="here,robot", **UDP)


def test_the_allocator_is_one_that_the_stack_has() -> None:
    cells = planned(allocator=["heap", "tlsf"], repetitions=1).cells
    assert sorted("-tlsf-" in cell.key for cell in cells) == [False, True]
    with pytest.raises(TaktError, match="raw has no allocator tlsf"):
        planned(stack="raw", transport="udp", allocator="tlsf")
    with pytest.raises(TaktError, match="has no allocator"):
        planned(kind="wakeup", stack="raw", allocator="heap")
