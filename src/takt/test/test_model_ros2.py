# SPDX-License-Identifier: Apache-2.0
"""takt model of a trace of ros2_tracing: what stock executors did, judged before it is changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from command_line import takt
from ctf_files import Robot, write

from takt.errors import TaktError
from takt.schedule.application.file import read_application
from takt.schedule.model.model import model
from takt.schedule.ros2 import babeltrace
from takt.schedule.ros2.due import on_grid

MS = 1_000_000
needs_babeltrace = pytest.mark.skipif(
    shutil.which(babeltrace.PROGRAM) is None, reason="babeltrace2 is not installed"
)


def robot() -> Robot:
    """A camera that a planner hears, which others call, on two threads; one timer has no luck."""
    ros2_robot = Robot()
    camera, planner = ros2_robot.node("camera"), ros2_robot.node("planner", "/ns")
    image = ros2_robot.publisher(camera, "/image")
    plan = ros2_robot.publisher(planner, "/plan")
    look = ros2_robot.timer(camera, 20 * MS)
    idle = ros2_robot.timer(camera, 500 * MS)
    heard = ros2_robot.subscription(planner, "/image", depth=3)
    ros2_robot.subscription(planner, "/parameter_events")
    reset = ros2_robot.service(planner, "/ns/reset")
    assert idle
    for number in range(10):
        begin = 100 * MS + number * 20 * MS + (number % 3) * 100_000
        ros2_robot.call(begin, begin + MS + number, look, [image])
        ros2_robot.call(begin + 2 * MS, begin + 4 * MS, heard, [plan, plan], thread=8)
    ros2_robot.call(150 * MS, 150 * MS + 50_000, reset, thread=9)
    ros2_robot.say(160 * MS, "rcl_publish", publisher_handle=plan, message=1, vtid=10)
    return ros2_robot


@needs_babeltrace
def test_a_trace_of_stock_executors_becomes_an_application(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path / "session" / "ust" / "uid", robot().records)
    out = tmp_path / "robot.app.yaml"
    modelled = model(folder.parents[1], out)
    application = read_application(out)
    assert set(application.callbacks) == {
        "camera.timer0", "ns_planner.subscription_image", "ns_planner.service_ns_reset",
    }  # fmt: skip
    look, heard = (
        application.callbacks[name] for name in ("camera.timer0", "ns_planner.subscription_image")
    )
    assert (look.timer, look.wcet, list(look.writes)) == (20 * MS, MS + 9, ["image"])
    # At the next start it counts from another time.
    assert (look.offset, heard.offset) == ("unknown", None)
    assert (heard.on, heard.wcet, list(heard.writes)) == ("image", 2 * MS, ["plan"])
    assert (look.group, heard.group) == ("camera", "ns_planner")
    assert application.topics["image"].depth == 3
    assert application.callbacks["ns_planner.service_ns_reset"].service == "/ns/reset"
    assert [one.callbacks for one in application.chains.values()] == [
        ["camera.timer0", "ns_planner.subscription_image"]
    ]
    text = out.read_text()
    assert heard.recorded == "ns/planner.subscription:/image"
    assert "up to 0.2 ms late" in text
    assert "publishes 2 messages on" in text
    assert "2 callbacks never ran and are excluded: camera.timer1, ns_planner.subscription_" in (
        text.replace("\n# ", " ")
    )
    assert any("exclusive callback groups" in note for note in modelled.notes)
    counted = [note for note in modelled.notes if "numbered in order of creation" in note]
    assert [note.partition(";")[0] for note in counted] == [
        "timers of /camera: numbered in order of creation (timer0: 20 ms, timer1: 500 ms)"
    ]
    assert takt(["analyse", str(out), "--json"]) in {0, 1}
    document = json.loads(capsys.readouterr().out)
    assert len(document["scenarios"][0]["callbacks"]) == 3


@needs_babeltrace
def test_what_the_kernel_took_away_is_no_execution(tmp_path: Path) -> None:
    ros2_robot = Robot()
    node = ros2_robot.node("one")
    timer = ros2_robot.timer(node, 10 * MS)
    for number in range(3):
        begin = 100 * MS + number * 10 * MS
        ros2_robot.call(begin, begin + 3 * MS, timer)
        ros2_robot.say(begin + MS, "sched_switch", prev_tid=7, next_tid=99)
        ros2_robot.say(begin + 2 * MS, "sched_switch", prev_tid=99, next_tid=7)
    folder = write(tmp_path / "kernel", ros2_robot.records)
    model(folder, tmp_path / "one.app.yaml")
    (one,) = read_application(tmp_path / "one.app.yaml").callbacks.values()
    assert one.wcet == 2 * MS
    assert "longest of 3 observed jobs (CPU time)" in (tmp_path / "one.app.yaml").read_text()


@needs_babeltrace
def test_handles_of_two_processes_are_two(tmp_path: Path) -> None:
    records = []
    for process, name in ((7, "left"), (8, "right")):
        ros2_robot = Robot()  # with the same addresses
        timer = ros2_robot.timer(ros2_robot.node(name), process * MS)
        for number in range(4):
            ros2_robot.call(
                100 * MS + number * process * MS, 100 * MS + number * process * MS + 5, timer
            )
        records += [
            (time, event, {**of, "vpid": process}) for time, event, of in ros2_robot.records
        ]
    model(write(tmp_path / "both", records), tmp_path / "both.app.yaml")
    found = read_application(tmp_path / "both.app.yaml").callbacks
    assert {name: one.timer for name, one in found.items()} == {
        "left.timer0": 7 * MS,
        "right.timer0": 8 * MS,
    }


@needs_babeltrace
def test_a_trace_that_began_too_late_is_refused_with_its_reason(tmp_path: Path) -> None:
    late = [record for record in robot().records if record[0] > 0]
    folder = write(tmp_path / "late", late)
    with pytest.raises(TaktError, match="calls of unknown ones") as error:
        model(folder, tmp_path / "late.app.yaml")
    assert "before the application" in (error.value.fix or "")
    (folder / "metadata").write_text("/* CTF 1.8 */ nonsense")
    with pytest.raises(TaktError, match="babeltrace2 cannot read this trace"):
        model(folder, tmp_path / "late.app.yaml")


def test_without_babeltrace2_its_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path / "robot", robot().records)
    monkeypatch.setenv("PATH", "")
    assert takt(["model", str(folder), "-o", str(tmp_path / "robot.app.yaml")]) == 2
    assert "apt install babeltrace2" in capsys.readouterr().err
    (folder / "metadata").unlink()
    assert takt(["model", str(folder), "-o", str(tmp_path / "robot.app.yaml")]) == 2
    assert "no metadata" in capsys.readouterr().err


LINE = (
    "[1700000000.000000042] host ros2:rcl_node_init: { cpu_id = 1 }, "
    '{ vpid = 5, vtid = -6, procname = "a = \\"7\\"" }, '
    '{ node_handle = 0x55AB, node_name = "radar", namespace = "/" }\n'
)


def test_a_line_is_an_event_with_its_context() -> None:
    event = babeltrace.parse(LINE, lambda name: name == "ros2:rcl_node_init")
    assert event is not None
    assert event.time == 1_700_000_000_000_000_042
    assert event.fields == {
        "cpu_id": 1, "vpid": 5, "vtid": -6, "procname": 'a = "7"', "node_handle": 0x55AB,
        "node_name": "radar", "namespace": "/",
    }  # fmt: skip
    assert babeltrace.parse(LINE, lambda name: name == "ros2:rcl_init") is None
    assert babeltrace.parse("no event", lambda _: True) is None


@pytest.mark.parametrize(
    ("begins", "due"),
    [
        ([100, 210, 305, 400], [100, 200, 300, 400]),
        ([120, 200, 300, 430], [100, 200, 300, 400]),  # the first is late
        ([100, 200, 430, 500], [100, 200, 400, 500]),  # a period was left out
    ],
)
def test_a_timer_keeps_its_phase(begins: list[int], due: list[int]) -> None:
    releases, indices = on_grid(np.array(begins, np.int64), 100)
    assert releases.tolist() == due
    assert indices.tolist() == [(one - due[0]) // 100 for one in due]


def test_no_line_breaks_the_reader() -> None:
    rng = np.random.default_rng(3)
    found: list[Any] = []
    for _ in range(300):
        raw = bytearray(LINE.encode())
        for place in rng.integers(0, len(raw), 4):
            raw[place] = rng.integers(0, 256)
        found.append(babeltrace.parse(raw.decode(errors="replace"), lambda _: True))
    assert any(found)
