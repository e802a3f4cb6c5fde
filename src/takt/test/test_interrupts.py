# SPDX-License-Identifier: Apache-2.0
"""Interrupts as the kernel records them: which one had a CPU, and for how long."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from takt.processes import interrupts as tested
from takt.processes import perf
from takt.processes.interrupts import LEAST_NS, Handled, Interrupts, Tracepoint
from takt.processes.switches import INTERRUPT, Held

US = 1_000
POINTS = [
    Tracepoint("irq_handler_entry", 1, {"irq": 8, "name": 12}),
    Tracepoint("irq_handler_exit", 2, {"irq": 8}),
    Tracepoint("softirq_entry", 3, {"vec": 8}),
    Tracepoint("softirq_exit", 4, {"vec": 8}),
    Tracepoint("local_timer_entry", 5, {"vector": 8}),
    Tracepoint("local_timer_exit", 6, {"vector": 8}),
    Tracepoint("call_function_entry", 7, {"vector": 8}),
    Tracepoint("call_function_exit", 8, {"vector": 8}),
]


def sample(at: int, point: int, number: int, name: str = "") -> bytes:
    """A record of a tracepoint, as the kernel writes it."""
    raw = struct.pack("<HHiI", point, 0, 7, number)
    if name:
        text = name.encode() + b"\0"
        raw += struct.pack("<HH", 16, len(text)) + text
    return struct.pack("<QI", at, len(raw)) + raw


def taken(handled: Handled, *bodies: bytes) -> list[tuple[int, int, str]]:
    found = [one for body in bodies for one in handled.take(body)]
    assert all((one.cpu, one.process) == (2, INTERRUPT) for one in found)
    return [(one.begin // US, one.end // US, one.name) for one in found]


def test_an_interrupt_has_its_number_and_name_and_a_softirq_its_vector() -> None:
    bodies = (
        sample(10 * US, 1, 36, "eth0"),
        sample(15 * US, 2, 36),
        sample(15 * US, 3, 3),
        sample(40 * US, 4, 3),
        sample(50 * US, 3, 99),
        sample(51 * US, 4, 99),
    )
    assert taken(Handled(2, POINTS), *bodies) == [
        (10, 15, "interrupt 36 eth0"),
        (15, 40, "softirq NET_RX"),
        (50, 51, "softirq 99"),
    ]


def test_one_within_another_one_counts_once() -> None:
    bodies = (
        sample(10 * US, 3, 9),
        sample(20 * US, 1, 5, "disk"),
        sample(30 * US, 2, 5),
        sample(50 * US, 4, 9),
    )
    assert taken(Handled(2, POINTS), *bodies) == [
        (10, 20, "softirq RCU"),
        (20, 30, "interrupt 5 disk"),
        (30, 50, "softirq RCU"),
    ]


def test_interrupts_of_the_processor_s_own_are_named_by_their_handler() -> None:
    bodies = (
        sample(10 * US, 5, 236),
        sample(20 * US, 6, 236),
        sample(20 * US, 3, 1),
        sample(30 * US, 7, 251),
        sample(34 * US, 8, 251),
        sample(40 * US, 4, 1),
    )
    assert taken(Handled(2, POINTS), *bodies) == [
        (10, 20, "interrupt local_timer"),
        (20, 30, "softirq TIMER"),
        (30, 34, "interrupt call_function"),
        (34, 40, "softirq TIMER"),
    ]


def test_what_began_before_the_recording_or_was_lost_is_left_out() -> None:
    handled = Handled(2, POINTS)
    assert taken(handled, sample(10 * US, 4, 3), sample(20 * US, 3, 1)) == []
    handled.forget()
    assert taken(handled, sample(90 * US, 4, 1)) == []
    assert taken(handled, sample(100 * US, 3, 1), sample(100 * US + LEAST_NS - 1, 4, 1)) == []
    assert taken(handled, sample(200 * US, 77, 1)) == []  # another tracepoint


class Filled:
    """A ring with what the kernel would have in it."""

    def __init__(self, _cpu: int, _events: object) -> None:
        self._records = [
            (perf.SAMPLE, 0, sample(10 * US, 3, 1)),
            (perf.LOST, 0, struct.pack("<QQ", 1, 42)),
            (perf.SAMPLE, 0, sample(30 * US, 4, 1)),
            (perf.SAMPLE, 0, sample(40 * US, 3, 1)),
            (perf.SAMPLE, 0, sample(60 * US, 4, 1)),
        ]

    def records(self) -> list[tuple[int, int, bytes]]:
        found, self._records = self._records, []
        return found

    def close(self) -> None:
        pass


def test_a_full_ring_counts_what_it_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tested, "tracepoints", lambda: POINTS)
    monkeypatch.setattr(tested, "Ring", Filled)
    interrupts = Interrupts([2])
    interrupts.look()
    interrupts.end()
    assert (interrupts.lost, interrupts.refused) == (42, None)
    assert interrupts.held == [Held(40 * US, 60 * US, 2, INTERRUPT, "softirq TIMER")]


def test_tracepoints_are_read_as_tracefs_describes_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    described = {
        "irq/irq_handler_entry": "irq",
        "irq/irq_handler_exit": "irq",
        "irq_vectors/local_timer_entry": "vector",
        "irq_vectors/local_timer_exit": "vector",
        "irq_vectors/vector_setup": "irq",  # no interrupt
    }
    for number, (name, field) in enumerate(described.items(), 30):
        folder = tmp_path / "events" / name
        folder.mkdir(parents=True)
        (folder / "id").write_text(f"{number}\n")
        (folder / "format").write_text(
            f"name: {name}\nID: {number}\nformat:\n"
            "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
            f"\tfield:int {field};\toffset:8;\tsize:4;\tsigned:1;\n"
            "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n"
        )
    monkeypatch.setattr(tested, "PLACES", (tmp_path / "none", tmp_path))
    monkeypatch.setattr(tested, "_NAMES", ("irq_handler_entry", "irq_handler_exit"))
    assert [(one.name, one.number) for one in tested.tracepoints()] == [
        ("irq_handler_entry", 30),
        ("irq_handler_exit", 31),
        ("local_timer_entry", 32),
        ("local_timer_exit", 33),
    ]
    assert tested.tracepoints()[0].fields == {"common_type": 0, "irq": 8, "name": 12}
    assert tested.tracepoints()[2].fields["vector"] == 8


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(13, "Permission denied", "/sys/x"), "/sys/x: Permission denied"),
        (OSError(1, "Operation not permitted"), "perf_event_open: Operation not permitted"),
    ],
)
def test_a_refusal_is_named_and_no_error(
    monkeypatch: pytest.MonkeyPatch, error: OSError, reason: str
) -> None:
    def refuse() -> list[Tracepoint]:
        raise error

    monkeypatch.setattr(tested, "tracepoints", refuse)
    interrupts = Interrupts([0])
    interrupts.look()
    interrupts.end()
    assert (interrupts.refused, interrupts.held) == (reason, [])


def test_without_tracefs_the_command_that_mounts_it_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tested, "PLACES", (tmp_path,))
    assert Interrupts([0]).refused == f"no tracefs: mount -t tracefs nodev {tmp_path}"


# Timers of the kernel expire meanwhile, which are softirqs.
_RECORDED = """
import json, os, time
from takt.processes.interrupts import Interrupts
interrupts = Interrupts(os.sched_getaffinity(0))
end = time.monotonic() + 60
while time.monotonic() < end and not interrupts.held and not interrupts.refused:
    time.sleep(0.05)
    interrupts.look()
interrupts.end()
found = [[one.begin, one.end, one.cpu, one.name] for one in interrupts.held]
print(json.dumps([interrupts.refused, time.monotonic_ns(), found]))
"""


def test_the_kernel_names_interrupts_of_this_machine() -> None:
    begin = Interrupts([])
    command = [sys.executable, "-c", _RECORDED]
    if begin.refused:
        mount = f'mount -t tracefs nodev {tested.PLACES[0]} && exec "$@"'
        command = ["unshare", "-m", "sh", "-c", mount, "sh", *command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except FileNotFoundError:
        pytest.skip("there is no tracefs, and no unshare to mount it for this test")
    if done.returncode:
        pytest.skip(f"tracefs cannot be read or mounted: {done.stderr.strip()[-200:]}")
    refused, now, found = json.loads(done.stdout)
    if refused:
        pytest.skip(f"the kernel does not record interrupts for this user: {refused}")
    assert found
    cpus = os.sched_getaffinity(0)
    for first, last, cpu, name in found:
        assert 0 < first < last <= now
        assert cpu in cpus
        assert name.startswith(("interrupt ", "softirq "))
