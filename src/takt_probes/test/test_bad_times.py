# SPDX-License-Identifier: Apache-2.0
"""Signals, time limits, full disks, dead partners, missing rights: bounded, said, nothing lost."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from probe_process import NOBODY, PATIENCE_S, Probes
from test_measuring import HELLO, free_port

HOUR_NS = 3_600_000_000_000
A_PORT = object()  # a free one, in place of it


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize(
    ("stack", "kind", "transport"),
    [
        ("raw", "wakeup", "nanosleep"),
        ("raw", "timer-oneshot", "futex"),
        ("raw", "timer-cyclic", "timerfd"),
        ("rcl", "timer-oneshot", "rcl_timer"),
        ("rcl", "timer-cyclic", "executor"),
        ("rclcpp", "timer-cyclic", "rclcpp_timer"),
        ("rclcpp", "pingpong", "process"),
        ("rclcpp", "pubsub", "process"),
        ("ros1", "timer-oneshot", "ros_timer"),
        ("ros1", "timer-cyclic", "steady_timer"),
        ("raw", "pingpong", "futex"),
        ("raw", "pingpong", "udp"),
        ("rcl", "pingpong", "process"),
        ("rcl", "pubsub", "process"),
        ("cyclonedds", "pingpong", "process"),
        ("cyclonedds", "pubsub", "process"),
    ],
)
def test_a_signal_stops_a_measurement_and_keeps_what_it_has(
    probes: Probes, stack: str, kind: str, transport: str, number: signal.Signals
) -> None:
    running = probes.start(stack, kind, "--transport", transport, "--count", 1_000_000)
    running.wait_for_records(20)
    running.process.send_signal(number)
    assert running.end() == 0, running.stderr
    document, samples = running.document(), running.recorded()
    assert (document["status"], document["error"]) == ("stopped", None)
    assert samples.count >= 20
    assert int((samples.records["received"] != 0).sum()) == document["received"]
    # On a busy machine a shallow history may lose messages; then the counts say so.
    sequences = samples.records["sequence"].astype("i8")
    assert (np.diff(sequences) > 0).all()
    assert document["sent"] == document["received"] + document["lost"] == sequences[-1] + 1


@pytest.mark.parametrize(
    ("stack", "kind", "arguments"),
    [
        ("raw", "wakeup", ("--period-ns", HOUR_NS)),
        ("raw", "wakeup", ("--start-delay-ns", HOUR_NS)),
        ("raw", "timer-oneshot", ("--timeout-ns", HOUR_NS)),
        ("raw", "timer-oneshot", ("--start-delay-ns", HOUR_NS)),
        ("raw", "timer-cyclic", ("--transport", "timerfd", "--period-ns", HOUR_NS)),
        ("raw", "timer-cyclic", ("--transport", "futex", "--period-ns", HOUR_NS)),
        ("rcl", "timer-oneshot", ("--timeout-ns", HOUR_NS)),
        ("rcl", "timer-oneshot", ("--timeout-ns", HOUR_NS, "--wait", "busy")),
        ("rcl", "timer-cyclic", ("--transport", "executor", "--period-ns", HOUR_NS)),
        ("ros1", "timer-oneshot", ("--timeout-ns", HOUR_NS)),
        ("ros1", "pubsub", ("--role", "subscriber")),
        ("ros1", "pubsub", ("--role", "publisher")),
        ("raw", "pingpong", ("--transport", "udp", "--role", "pong", "--topic", A_PORT)),
        ("rcl", "pingpong", ("--role", "pong")),
        ("rcl", "pubsub", ("--role", "subscriber")),
        ("rcl", "pubsub", ("--role", "publisher")),
        ("cyclonedds", "pubsub", ("--role", "subscriber")),
        ("cyclonedds", "pingpong", ("--role", "ping")),
        ("rustdds", "pingpong", ("--role", "pong")),
        ("rustdds", "pubsub", ("--role", "publisher")),
        ("iceoryx2", "pingpong", ("--role", "pong")),
        ("iceoryx2", "pubsub", ("--role", "publisher")),
        ("zenoh", "pingpong", ("--role", "pong")),
        ("zenoh", "pubsub", ("--role", "publisher")),
        ("zenoh", "pubsub", ("--role", "subscriber")),
    ],
)
def test_a_signal_reaches_a_probe_that_waits(
    probes: Probes, stack: str, kind: str, arguments: tuple[object, ...]
) -> None:
    words = [free_port() if word is A_PORT else word for word in arguments]
    running = probes.start(stack, kind, *words, record=False)
    watched = Path(f"/proc/{running.process.pid}/task")
    while not any(_name(task) == "takt.watchdog" for task in watched.iterdir()):
        time.sleep(0.01)
    time.sleep(0.5)  # into its waiting; on a busy machine it is stopped on its way there
    running.process.terminate()
    assert running.end() == 0, running.stderr
    assert running.document()["status"] == "stopped"


def _name(task: Path) -> str:
    try:
        return (task / "comm").read_text().strip()
    except OSError:  # it has just ended
        return ""


def test_a_killed_probe_leaves_a_valid_file(probes: Probes) -> None:
    running = probes.start("raw", "wakeup", "--count", 1_000_000)
    running.wait_for_records(100)
    running.process.kill()
    running.end()
    samples = running.recorded()
    assert samples.count >= 100
    assert (samples.records["received"] > 0).all()
    assert not running.result.exists()


def test_a_ping_without_a_pong_ends_at_its_time_limit(probes: Probes) -> None:
    arguments = ("--transport", "udp", "--role", "ping", "--topic", free_port())
    running = probes.start("raw", "pingpong", *arguments, "--time-limit-ns", 500_000_000)
    assert running.end() == 1
    document = running.document()
    assert document["status"] == "failed"
    assert "time limit" in document["error"]["what"]
    assert document["error"]["fix"]
    assert "time limit" in running.stderr


def test_a_publisher_without_subscribers_says_what_it_misses(probes: Probes) -> None:
    running = probes.start("rcl", "pubsub", "--role", "publisher", "--topic", "alone", record=False)
    assert running.end() == 1
    error = running.document()["error"]
    assert "alone" in error["what"]
    assert "1 subscribers" in error["why"]


def test_samples_are_lost_and_not_waited_for_when_the_pong_dies(probes: Probes) -> None:
    answered = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as pong:
        pong.bind(("127.0.0.1", 0))
        pong.settimeout(PATIENCE_S)
        ping = probes.start(
            "raw", "pingpong", "--transport", "udp", "--role", "ping", "--count", 400,
            "--topic", f"127.0.0.1:{pong.getsockname()[1]}", "--lost-after-ns", 5_000_000,
        )  # fmt: skip
        while answered < 50:
            message, sender = pong.recvfrom(65536)
            answered += message[4:8] != HELLO
            pong.sendto(message, sender)
    # Its socket is closed now, as the kernel closes that of a process that dies.
    assert ping.end() == 0, ping.stderr
    document, samples = ping.document(), ping.recorded()
    assert document["status"] == "complete"
    assert document["lost"] > 0
    assert samples.count == 400
    assert int((samples.records["received"] == 0).sum()) == document["lost"]
    # A lost sample delays the ones after it, but their start times stay where they were.
    assert (np.diff(samples.records["intended"]) == 1_000_000).all()


def test_a_probe_ends_when_its_parent_dies(probes: Probes, tmp_path: Path) -> None:
    command = probes.command("raw", "wakeup", "--count", 1_000_000, "--result", tmp_path / "r.json")
    program = "import subprocess, sys, time; p = subprocess.Popen(sys.argv[1:]); print(p.pid, flush=True); time.sleep(600)"  # noqa: E501
    parent = subprocess.Popen(
        [sys.executable, "-c", program, *command], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    probe = int(parent.stdout.readline())
    task = Path(f"/proc/{probe}/task")
    while not any(_name(one) == "takt.watchdog" for one in task.iterdir()):
        time.sleep(0.01)
    parent.kill()
    parent.communicate()
    limit = time.monotonic() + PATIENCE_S
    while _alive(probe) and time.monotonic() < limit:
        time.sleep(0.01)
    assert not _alive(probe)
    assert '"stopped"' in (tmp_path / "r.json").read_text()


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    "arguments",
    [
        ("nap",),
        ("wakeup", "--period-ns", "-1"),
        ("wakeup", "--policy", "fifo"),
        ("wakeup", "--cpu", "4096"),
        ("pingpong", "--transport", "udp", "--role", "ping", "--topic", "nowhere"),
        ("pingpong", "--transport", "udp", "--payload-bytes", "65476"),
        ("pingpong", "--transport", "udp", "--role", "pong", "--samples", "x"),
    ],
)
def test_wrong_use_gives_exit_code_2_and_one_line_that_helps(
    probes: Probes, arguments: tuple[str, ...]
) -> None:
    done = probes.ask("raw", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("probe_raw: ")
    assert done.stderr.count("\n") == 1
    assert arguments[-1] in done.stderr or arguments[0] in done.stderr or "--" in done.stderr


def test_recorded_samples_are_never_overwritten(probes: Probes, tmp_path: Path) -> None:
    first = probes.start("raw", "wakeup", "--count", 5)
    assert first.end() == 0
    kept = first.recorded().records.tobytes()
    done = probes.ask("raw", "wakeup", "--count", 5, "--samples", first.samples)
    assert done.returncode == 1
    assert "never overwritten" in done.stderr
    assert first.recorded().records.tobytes() == kept


@pytest.fixture
def small_disk(as_root: None, tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"cannot mount a tmpfs here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def test_no_space_is_found_before_the_loop_starts(probes: Probes, small_disk: Path) -> None:
    where = small_disk / "a.taktsamples"
    running = probes.start("raw", "wakeup", "--count", 100_000, "--samples", where, record=False)
    assert running.end() == 1
    document = running.document()
    assert document["status"] == "failed"
    assert str(where) in document["error"]["what"]
    assert "no space" in document["error"]["why"]
    assert document["sent"] == 0
    assert not where.exists()


def test_a_result_that_finds_no_space_is_an_error_and_leaves_no_half_of_it(
    probes: Probes, small_disk: Path
) -> None:
    (small_disk / "full").write_bytes(bytes(64 * 1024))
    done = probes.ask("raw", "wakeup", "--count", 3, "--result", small_disk / "r.json")
    assert done.returncode == 1
    assert "No space" in done.stderr
    assert [one.name for one in small_disk.iterdir()] == ["full"]


@pytest.mark.usefixtures("as_root")
def test_without_privileges_everything_runs_and_the_notes_say_what_is_missing(
    probes: Probes,
) -> None:
    probes.give_place_to(NOBODY)
    running = probes.start(
        "raw", "pingpong", "--policy", "fifo", "--priority", 80, "--cpu", 0, "--count", 50,
        user=NOBODY, group=NOBODY, extra_groups=[],
    )  # fmt: skip
    assert running.end() == 0, running.stderr
    document = running.document()
    assert document["status"] == "complete"
    assert document["requested"]["policy"] == "fifo"
    assert document["granted"]["policy"] == "other"
    notes = {note["what"]: note for note in document["notes"]}
    assert "policy fifo at priority 80" in notes
    assert any("memory" in what for what in notes)
    assert all(note["why"] and note["fix"] for note in notes.values())


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("policy", ["fifo", "rr"])
@pytest.mark.parametrize(
    ("stack", "kind", "transport", "least_threads"),
    [
        ("raw", "pingpong", "futex", 2),
        ("rcl", "pingpong", "process", 11),
        ("cyclonedds", "pingpong", "process", 8),
        ("ros1", "timer-cyclic", "ros_timer", 6),
    ],
)
def test_real_time_settings_are_obtained_by_every_thread(
    probes: Probes, stack: str, kind: str, transport: str, least_threads: int, policy: str
) -> None:
    running = probes.start(
        stack, kind, "--transport", transport, "--policy", policy, "--priority", 30,
        "--cpu", 0, "--count", 50,
    )  # fmt: skip
    assert running.end() == 0, running.stderr
    document = running.document()
    granted = document["granted"]
    assert document["notes"] == [] or "deep idle" in document["notes"][0]["what"]
    assert (granted["policy"], granted["priority"], granted["cpu"]) == (policy, 30, [0])
    assert (granted["rr_interval_ns"] > 0) == (policy == "rr")
    assert granted["memory_locked"]
    # Tracing starts threads of its own before main, which cannot inherit anything.
    (watchdog,) = (one["tid"] for one in granted["threads"] if one["name"] == "takt.watchdog")
    ours = [one for one in granted["threads"] if one["tid"] >= watchdog]
    assert len(ours) >= least_threads
    for thread in ours:
        above = thread["name"] == "takt.watchdog"
        assert thread["policy"] == ("fifo" if above else policy)
        assert thread["priority"] == (31 if above else 30)
        assert above or thread["cpu"] == [0]


@pytest.mark.usefixtures("as_root")
def test_a_hopelessly_late_real_time_loop_leaves_some_of_its_cpu_and_says_so(
    probes: Probes,
) -> None:
    running = probes.start(
        "raw", "pingpong", "--transport", "udp", "--policy", "fifo", "--priority", 10, "--cpu", 0,
        "--period-ns", 1000, "--count", 100_000_000, "--time-limit-ns", 3_000_000_000,
        record=False,
    )  # fmt: skip
    assert running.end() == 1
    document = running.document()
    assert document["overruns"] > 0
    assert "time limit" in document["error"]["what"]
    assert any("rested" in note["why"] for note in document["notes"])
