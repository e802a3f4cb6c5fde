# SPDX-License-Identifier: Apache-2.0
"""One-way figures between two clocks: bounded and shown, or refused."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from synthetic_hosts import Cluster, Machine
from test_workers import arguments, measured, real  # noqa: F401 - a fixture

from takt.measure.results.model import Run, Status
from takt.measure.run import samples
from takt.network import clocks

# As chronyc -c tracking of chrony 4.3 prints it.
TRACKING = (
    "C0A80001,192.168.0.1,3,1700000000.123456789,-0.000004000,0.000001,0.000012,"
    "-12.345,0.001,0.021,0.000200000,0.000050000,64.4,{leap}\n"
)
LOCAL = (
    "7F7F0101,,8,1795460604.192842124,0.000000000,0.000000000,0.000000000,"
    "0.000,0.000,0.000,0.000000000,0.000000000,0.0,Normal\n"
)
HARDWARE = "\tphc_index {index}\n"
CURRENT = "\tstepsRemoved 1\n\toffsetFromMaster -230.0\n\tmeanPathDelay 4000.0\n"
pytestmark = pytest.mark.timeout(720)  # several processes that import Dask, on a busy machine
PUBSUB = ["measure", "pubsub", "--stack", "rcl", "--transport", "udp", "--period", "10ms"]
PUBSUB += ["--samples", "50", "--repetitions", "1", "--host", "controller,component"]
OFFSET_S = 1000


def test_the_bound_by_chrony_is_the_root_distance() -> None:
    kept = clocks.kept_by_chrony(TRACKING.format(leap="Normal"))
    assert (kept.bound_ns, kept.by, kept.own) == (154_000, "chrony", False)
    assert kept.reference == "192.168.0.1"
    kept = clocks.kept_by_chrony(TRACKING.format(leap="Not synchronised"))
    assert (kept.bound_ns, kept.by) == (None, "chrony is not synchronised")
    assert clocks.kept_by_chrony(LOCAL).own
    with pytest.raises(ValueError, match="1 fields"):
        clocks.kept_by_chrony("506 Cannot talk to daemon\n")


def test_the_bound_by_ptp_is_of_the_clock_that_is_steered() -> None:
    kept = clocks.kept_by_ptp(HARDWARE.format(index=-1), CURRENT)
    assert (kept.bound_ns, kept.by) == (4230, "PTP")
    kept = clocks.kept_by_ptp(HARDWARE.format(index=0), CURRENT)
    assert kept.bound_ns is None
    assert "not the system's" in kept.by
    assert clocks.kept_by_ptp(HARDWARE.format(index=-1), "sending: GET\n").bound_ns is None
    assert clocks.kept_by_ptp("", CURRENT).bound_ns is None


def test_two_processes_of_one_boot_have_one_clock() -> None:
    found = clocks.between(clocks.read(), clocks.read())
    assert found is not None
    assert (found.add_ns, found.bound_ns) == (0, 0)
    assert "one clock" in found.by


def test_between_two_machines_the_bounds_add_up() -> None:
    one = clocks.Clock("a", 1_000_000, 10, 500, "chrony")
    other = clocks.Clock("b", 4_000_000, 20, 700, "chrony")
    found = clocks.between(other, one)
    # 7 ms on the other's clock is 11 ms of wall time, which is 10 ms on the one's.
    assert found == clocks.Between(3_000_000, 1230, "chrony")
    unknown = replace(other, bound_ns=None, by="chrony is not synchronised")
    assert clocks.between(unknown, one) is None
    assert clocks.why_unknown(unknown, one) == "chrony is not synchronised"


def test_bounds_to_different_references_do_not_add_up() -> None:
    one = clocks.Clock("a", 0, 0, 0, "chrony", own=True, addresses=("10.0.0.1",))
    other = clocks.Clock("b", 0, 0, 700, "chrony", reference="10.0.0.1")
    assert clocks.between(other, one) == clocks.Between(0, 700, "chrony")
    assert clocks.between(one, other) == clocks.Between(0, 700, "chrony")
    for stranger in (
        replace(other, reference="10.0.0.2"),
        replace(other, own=True),
        replace(other, by="PTP"),
    ):
        assert clocks.between(stranger, one) is None
        assert clocks.why_unknown(stranger, one) == "they do not follow the same reference"


def test_only_what_was_received_is_put_onto_the_other_clock(tmp_path: Path) -> None:
    path = tmp_path / "x.taktsamples"
    records = np.array([(0, 1, 2, 3), (1, 4, 5, 0), (2, 7, 8, 9)], dtype=samples.RECORD)
    path.write_bytes(samples.header(3) + records.tobytes())
    samples.to_clock(path, 100)
    found = samples.read(path).records
    assert found["received_ns"].tolist() == [103, 0, 109]
    assert found["sent_ns"].tolist() == [2, 5, 8]
    path.write_bytes(samples.header(0))
    samples.to_clock(path, 100)


def synchronised(folder: Path, leap: str) -> None:
    """What chrony says of every clock from now on."""
    new = folder / "bin" / "new"
    new.write_text(f"#!/bin/sh\necho '{TRACKING.format(leap=leap).strip()}'\n")
    new.chmod(0o755)
    new.rename(folder / "bin" / "chronyc")


@contextlib.contextmanager
def other_clock(folder: Path) -> Iterator[Cluster]:
    """The component's clock began 1000 s earlier, and chrony keeps none of them yet."""
    ahead = ["unshare", "--time", "--monotonic", str(OFFSET_S), "--fork", "--kill-child", "--"]
    if subprocess.run([*ahead, "true"], capture_output=True).returncode:
        pytest.skip("no time namespace can be made here")
    (folder / "bin").mkdir(parents=True)
    synchronised(folder, "Not synchronised")
    machine, component = Machine(folder), Machine(folder, ahead)
    machines = {"controller": machine, "component": component}
    cluster = Cluster(machine, machines, PATH=f"{folder / 'bin'}:{os.environ['PATH']}")
    try:
        yield cluster
    finally:
        cluster.end()


def is_bounded(run: Run) -> None:
    cell = run.cells[0]
    assert (cell.status, cell.error) == (Status.complete, None)
    assert cell.count == 50
    assert cell.conditions is not None
    assert cell.conditions.clock == "chrony"
    assert cell.conditions.clock_bound_us is not None
    # Twice 154 µs, and what reading the clocks took.
    assert cell.conditions.clock_bound_us >= 308
    assert cell.statistics is not None
    bound = cell.conditions.clock_bound_us
    assert -bound < cell.statistics.latency.min_us
    assert cell.statistics.latency.max_us < OFFSET_S * 1e6 / 2


def test_one_way_between_two_clocks_is_refused_until_they_are_synchronised(
    tmp_path: Path,
    machine_folder: Path,
    real: None,  # noqa: F811
) -> None:
    with other_clock(machine_folder) as cluster:
        words = arguments(cluster, tmp_path / "out", *PUBSUB)
        printed = subprocess.run(
            words,
            env={**os.environ, "XDG_CONFIG_HOME": str(cluster.tool.configuration)},
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert printed.returncode == 2
        assert "the offset between the clocks" in printed.stderr
        assert "chrony is not synchronised" in printed.stderr
        assert "pingpong" in printed.stderr
        synchronised(machine_folder, "Normal")
        is_bounded(measured(cluster, tmp_path / "tied", *PUBSUB))


@pytest.mark.thorough
def test_round_trips_need_no_clock_and_the_other_way_has_the_same_bound(
    tmp_path: Path,
    machine_folder: Path,
    real: None,  # noqa: F811
) -> None:
    with other_clock(machine_folder) as cluster:
        round_trips = ["pingpong" if word == "pubsub" else word for word in PUBSUB]
        run = measured(cluster, tmp_path / "round_trips", *round_trips)
        assert run.status is Status.complete
        assert (run.cells[0].max_us or 0) < OFFSET_S * 1e6
        synchronised(machine_folder, "Normal")
        is_bounded(measured(cluster, tmp_path / "out", *PUBSUB[:-1], "component,controller"))
