# SPDX-License-Identifier: Apache-2.0
"""A second host inside a guest, and messages that are sent there at set times."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import synthetic_judged

from takt.lab import cells, initramfs, jobs, judged, second_host
from takt.lab.cells import Planned
from takt.lab.modes import Mode
from takt.measure.results import store
from takt.network import shaping

TOOLS = [Path("/usr/sbin/ip"), Path("/usr/sbin/tc")]


def planned(folder: Path) -> list[Planned]:
    """What takes two hosts of a whole comparison."""
    _, plan, found = cells.experiment(2, ros=True)
    return cells.planned([one for one in plan.cells if len(one.hosts) > 1], found, folder)[0]


def test_both_ways_are_measured_under_both_loads_without_what_the_host_has(tmp_path: Path) -> None:
    each = planned(tmp_path)
    ways = {(one.cell.transport, one.job.load) for one in each}
    assert ways == {(way, load) for way in ("udp", "txtime") for load in (jobs.IDLE, jobs.LOADED)}
    assert cells.have_second_host(each)
    assert [one.name for one in cells.early(each)] == ["probe_raw"]
    for one in each:
        pong, ping = one.job.commands
        assert pong[: len(second_host.INSIDE)] == second_host.INSIDE
        assert "pong" in pong
        assert ping[0].endswith("probe_raw")
        address = f"{second_host.ENDS.passive.address}:"
        assert all(any(word.startswith(address) for word in each) for each in (pong, ping))
    assert not cells.have_second_host([])


def test_the_host_is_there_when_the_modules_are_there_and_before_anything_is_measured(
    tmp_path: Path,
) -> None:
    todo = [one.job for one in planned(tmp_path)]
    script = jobs.init(todo, [], tmp_path, begin=second_host.begin(TOOLS))
    assert subprocess.run(["sh", "-n"], input=script.encode(), timeout=150).returncode == 0
    order = ["insmod", "unshare --net=", "/usr/sbin/ip link add", " etf clockid", "takt-lab: step"]
    places = [script.index(one) for one in order]
    assert places == sorted(places)
    # A shell of busybox takes its own applets for a bare name.
    assert re.findall("^(?:ip|tc) ", script, re.MULTILINE) == []


def test_only_packets_with_a_time_are_led_to_the_queue_that_drops_all_others() -> None:
    prio, etf = shaping.at_times("near", "root")
    bands = prio[prio.index("priomap") + 1 :]
    assert len(bands) == 16
    assert [number for number, band in enumerate(bands) if band == "0"] == [6]
    assert etf[etf.index("parent") + 1] == "2:1"  # the class of band 0
    assert etf[etf.index("clockid") + 1] == "CLOCK_TAI"  # it knows no other


def test_the_figures_between_hosts_are_of_the_response(tmp_path: Path) -> None:
    cell = store.read(synthetic_judged.run(tmp_path / "run")).cells[0]
    assert cell.statistics
    later = cell.statistics.latency.model_copy(update={"max_us": 77e3})
    cell.statistics = cell.statistics.model_copy(update={"response": later})
    one_host, two_hosts = (
        judged.points([cell.model_copy(update={"host": host})], Mode.icount)[0]
        for host in ("here", "here,namespace")
    )
    assert (one_host.max_us, two_hosts.max_us) == (cell.statistics.latency.max_us, 77e3)
    assert two_hosts.what == f"{one_host.what}, response"


def test_modules_of_the_link_come_with_what_they_need(tmp_path: Path) -> None:
    for name, needs in {"veth": "", "sch_prio": "", "sch_etf": "helper", "helper": ""}.items():
        (tmp_path / f"{name}.ko").write_bytes(f"\0depends={needs}\0".encode())
    names = [name for name, _ in initramfs.in_order(tmp_path, second_host.MODULES)]
    assert names == ["veth", "sch_prio", "helper", "sch_etf"]
