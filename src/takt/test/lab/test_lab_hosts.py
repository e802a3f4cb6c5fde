# SPDX-License-Identifier: Apache-2.0
"""``takt lab hosts``: what two guests do, how they meet, and what is made of what they leave."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from takt.errors import Failure
from takt.lab import between, cable, guest, host_jobs, hosts, hosts_verdict, network_threads
from takt.lab.cells import Planned
from takt.lab.guest import Boot
from takt.lab.host_jobs import Host
from takt.lab.hosts import COMPONENT, CONTROLLER, NORMAL, QUIET, TESTS, TRAFFIC, TUNED
from takt.lab.hosts_model import HostsTest
from takt.lab.kernels import Kernel
from takt.lab.modes import Mode
from takt.measure.results.model import Cell
from takt.network import stacks

RT = Kernel("rt", "6.12.1-rt-amd64", Path("/k/v"), Path("/k/m"), real_time=True)
SHELL_S = 60.0


def scripts(folder: Path) -> dict[str, str]:
    """Of both hosts, by their names."""
    _, cells = hosts.experiment(200, 20, rounds=1)
    ends = cable.ends(folder)
    tests, _ = hosts.planned(cells, ends, folder)
    out = folder / "out"
    both = [Host(CONTROLLER, *ends, out), Host(COMPONENT, *reversed(ends), out)]
    return {one.name: host_jobs.init(one, tests, []) for one in both}


def test_with_ros_each_host_has_the_profile_of_its_own_address(tmp_path: Path) -> None:
    if "rcl" not in stacks.find():
        pytest.skip("not built: rcl")
    _, cells = hosts.experiment(200, 20, rounds=1, stack="rcl")
    ends = cable.ends(tmp_path)
    tests, profiles = hosts.planned(cells, ends, tmp_path)
    assert {one.deadline_us for one in cells} == {10_000}
    for own, other in (ends, ends[::-1]):
        script = host_jobs.init(Host(CONTROLLER, own, other, tmp_path), tests, [])
        for one in tests:
            profile = f"lab/{one.cell.id}.{own.address}.xml"
            assert f"/{profile} " in script
            assert f"<address>{other.address}</address>" in profiles[profile]
            assert own.address in profiles[profile]
        assert other.address not in "".join(re.findall(r"/lab/\S+[.]xml", script))


# the cable


def test_the_two_cards_are_the_ends_of_one_cable(tmp_path: Path) -> None:
    one, other = cable.ends(tmp_path)
    assert (one.socket, one.other) == (other.other, other.socket)
    assert one.address != other.address
    commands = [
        guest.command(Boot(RT, Mode.icount, tmp_path / "i", tmp_path / "c", cable=end))
        for end in (one, other)
    ]
    cards = [next(word for word in each if word.startswith("e1000e,")) for each in commands]
    assert cards[0] != cards[1]  # two cards with one address hear each other's answers
    networks = [word for each in commands for word in each if word.startswith(("user", "tap"))]
    assert networks == []  # nothing of the host's
    without = guest.command(Boot(RT, Mode.icount, tmp_path / "i", tmp_path / "c"))
    assert "-netdev" not in without


# what they do


def test_both_hosts_do_the_tests_of_the_paper_and_meet_at_the_same_places(tmp_path: Path) -> None:
    both = scripts(tmp_path)
    for script in both.values():
        checked = subprocess.run(["sh", "-n"], input=script.encode(), timeout=SHELL_S)
        assert checked.returncode == 0
    places = [re.findall(r"\bmeet ([^$;\s]+)", script) for script in both.values()]
    waits = [[one for one in each if not one.endswith(".measured")] for each in places]
    assert len(waits[0]) >= 2 * len(TESTS)
    assert waits[0] == waits[1]
    # The controller waits for nobody when it has measured, but says so.
    said = {one.partition(".$me")[0] for one in re.findall(r': >"\$out/(\S+)"', both[CONTROLLER])}
    assert {one for one in places[1] if one.endswith(".measured")} <= said
    assert "--role ping" in both[CONTROLLER]
    assert "--role pong" in both[COMPONENT]
    assert "--role ping" not in both[COMPONENT]
    # The paper's loads: 8 workers of each kind on the PC, 2 on the device.
    assert "\nstress_on 8\n" in both[CONTROLLER]
    assert "\nstress_on 2\n" in both[COMPONENT]


def test_only_the_tuned_test_raises_priorities_and_the_others_take_them_back(
    tmp_path: Path,
) -> None:
    for script in scripts(tmp_path).values():
        steps = script.split("echo 'takt-lab: step ")[1:]
        set_by = {
            name: re.findall("^priorities (.*)$", step, re.MULTILINE)
            for step in steps
            for name in TESTS
            if f"-{name}-r" in step.splitlines()[0]
        }
        assert set_by == {
            QUIET: ["-f 50 -o 0"],
            TRAFFIC: ["-f 50 -o 0"],
            NORMAL: ["-o 0 -o 0"],
            TUNED: ["-f 90 -f 60"],
        }


def test_a_guest_whose_other_one_does_not_come_ends(tmp_path: Path) -> None:
    functions = host_jobs.FUNCTIONS.replace(str(host_jobs.MEET_S), "3")
    faked = "sleep() { :; }\npoweroff() { echo off; exit 0; }\n"
    named = f"me=controller other=component out={tmp_path}\n"
    script = f"{faked}{functions}\n{named}meet start\necho met\n"

    def said() -> str:
        done = subprocess.run(["sh", "-c", script], capture_output=True, timeout=SHELL_S, text=True)
        return done.stdout

    assert said().splitlines() == [host_jobs.NOT_MET, "off"]
    (tmp_path / "start.component").touch()
    assert said() == "met\n"


# what the kernel's threads did

BEFORE = """uptime 10.00
rx 1000
tx 1000
thread ksoftirqd/0 0 0 1000000 2000000 7
thread irq/26-eth0-rx- 50 1 5000000 0 9
"""
AFTER = """uptime 12.00
rx 5001000
tx 1000
thread ksoftirqd/0 60 1 4000000 52000000 9
thread irq/26-eth0-rx- 90 1 6000000 1000000 9
"""


def counts(folder: Path, text: str) -> network_threads.Counts:
    file = folder / "x.counts"
    file.write_text(text)
    return network_threads.read(file)


def test_threads_have_the_times_between_two_looks_and_the_later_priority(tmp_path: Path) -> None:
    before, after = counts(tmp_path, BEFORE), counts(tmp_path, AFTER)
    softirq, interrupt = network_threads.between(CONTROLLER, before, after)
    assert (softirq.scheduling, softirq.ran_ms, softirq.waited_ms) == ("fifo 60", 3.0, 50.0)
    assert (interrupt.scheduling, interrupt.ran_ms, interrupt.waited_ms) == ("fifo 90", 1.0, 1.0)


def test_traffic_is_payload_without_the_messages_that_were_measured(tmp_path: Path) -> None:
    before, after = counts(tmp_path, BEFORE), counts(tmp_path, AFTER)
    # 5 MB in 2 s, of which 1000 frames of 542 bytes are messages, and 1400 of 1442 bytes payload.
    expected = 8 * (5_000_000 - 542_000) * 1400 / 1442 / 2 / 1e6
    assert network_threads.traffic_mbps(before, after, 1000, 500) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["uptime x", "thread a b", "thread a 0 9 1 2 3"])
def test_counts_that_are_none_are_reported(tmp_path: Path, text: str) -> None:
    with pytest.raises(Failure, match="cannot read what the guest counted"):
        counts(tmp_path, text)
    with pytest.raises(Failure, match="cannot read what the guest counted"):
        network_threads.read(tmp_path / "none")


# the answer


def measured(test: str, late: int, sent: int = 1000, fault: str | None = None) -> HostsTest:
    return HostsTest(
        test=test,
        cell=test,
        sent=sent,
        late=late,
        lost=0,
        p50_us=1,
        p99_us=1,
        max_us=1,
        traffic_there_mbps=None,
        traffic_back_mbps=None,
        threads=[],
        fault=fault,
    )


@pytest.mark.parametrize(
    ("usual", "tuned", "helps"),
    [
        ((200, 220), (1, 0), True),
        ((1, 0), (200, 220), False),
        ((10, 12), (11, 9), None),
        ((0, 0), (0, 0), None),
    ],
)
def test_the_answer_follows_the_difference_of_late_shares(
    usual: tuple[int, int], tuned: tuple[int, int], helps: bool | None
) -> None:
    tests = [measured(QUIET, 0)]
    tests += [measured(TRAFFIC, one) for one in usual] + [measured(TUNED, one) for one in tuned]
    of_traffic, of_normal = hosts_verdict.compared(tests)
    assert (of_traffic.test, of_traffic.helps) == (TRAFFIC, helps)
    assert (of_normal.helps, of_normal.less_low) == (None, None)  # it was not measured
    assert "instruction time" in hosts_verdict.headline(tests, Mode.icount)
    shares = {one.test: one.share for one in hosts_verdict.late_shares(tests)}
    expected = {QUIET: 0, TRAFFIC: sum(usual) / 2000, NORMAL: 0, TUNED: sum(tuned) / 2000}
    assert shares == expected


def test_one_round_decides_nothing_for_hosts_differ_from_round_to_round() -> None:
    once = [measured(NORMAL, 900), measured(TUNED, 0)]
    found = hosts_verdict.compared(once)[1]
    assert (found.less_low or 0) > 0.8
    assert found.helps is None


def test_a_test_that_failed_does_not_count() -> None:
    failed = measured(TRAFFIC, 900, fault="the traffic did not reach 20 Mbit/s")
    tests = [failed, failed, *[measured(NORMAL, 900), measured(TUNED, 0)] * 2]
    assert [one.helps for one in hosts_verdict.compared(tests)] == [None, True]
    assert hosts_verdict.late_shares(tests)[1].sent == 0


def planned(test: str, folder: Path) -> Planned:
    _, cells = hosts.experiment(200, 20, rounds=1)
    each, _ = hosts.planned(cells, cable.ends(folder), folder)
    return next(one for one in each if one.cell.label == test)


def test_threads_as_the_kernel_has_them_are_no_change(tmp_path: Path) -> None:
    one = planned(QUIET, tmp_path)
    for host in (CONTROLLER, COMPONENT):
        (tmp_path / host).mkdir()
        for when in ("before", "after"):
            (tmp_path / host / f"{one.cell.id}.{when}.counts").write_text(BEFORE)
    cell = between.cell_of(one, tmp_path, tmp_path, Mode.icount, "6.12-rt PREEMPT_RT")
    assert cell.conditions
    assert [each.tuned for each in cell.conditions.hosts.values()] == [[], []]


def test_a_cell_says_its_kernels_its_settings_and_that_traffic_fell_short(tmp_path: Path) -> None:
    one = planned(TUNED, tmp_path)
    for host in (CONTROLLER, COMPONENT):
        (tmp_path / host).mkdir()
        for when, text in {"before": BEFORE, "after": AFTER}.items():
            (tmp_path / host / f"{one.cell.id}.{when}.counts").write_text(text)
    cell: Cell = between.cell_of(one, tmp_path, tmp_path, Mode.icount, "6.12-rt PREEMPT_RT")
    said = [note.what for note in cell.notes]
    assert "both guests run 6.12-rt PREEMPT_RT" in said
    assert "instruction time, one virtual CPU" in said
    assert cell.conditions
    for host in (CONTROLLER, COMPONENT):
        found = cell.conditions.hosts[host]
        assert found.tuned_places == 2
        assert {place.now for place in found.tuned} == {"fifo 60", "fifo 90"}
    assert cell.conditions.traffic_back_mbps
