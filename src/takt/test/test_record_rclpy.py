# SPDX-License-Identifier: Apache-2.0
"""A recording of two programs of rclpy, one of which calls the other and waits."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from recorded_programs import record, takt
from recorded_robots import summary

from takt.schedule.view.page import write_view

PEER = Path(__file__).with_name("rclpy_calls.py")
STATE = PEER.parents[3] / os.environ.get("TAKT_STATE", ".takt")
COUNT = 10
# The server is killed where it does not end: Fast DDS may wait for itself then.
BOTH = """
"$0" "$1" serve & server=$!
"$0" "$1" call "$2"; code=$?
kill -INT $server
for _ in $(seq 200); do kill -0 $server 2>/dev/null || break; sleep 0.1; done
kill -KILL $server 2>/dev/null
wait
exit $code
"""


def ros_python() -> str:
    of_wheels = STATE / "ros" / "bin" / "python"
    return os.environ.get(
        "TAKT_ROS_PYTHON", str(of_wheels if of_wheels.exists() else sys.executable)
    )


@pytest.mark.usefixtures("ros_domain")
def test_a_call_from_one_process_of_rclpy_to_another_is_followed_to_the_response(
    tmp_path: Path,
) -> None:
    python = ros_python()
    done = record(tmp_path / "out", "bash", "-c", BOTH, python, PEER, str(COUNT))
    if "No module named" in done["stderr"]:
        pytest.skip("no rclpy here")
    assert done["exit"] == 0, done["stderr"]
    found = {one.task: one for one in summary(tmp_path / "out").tasks}
    for name in ("control.request:/plan", "planner.service:/plan", "control.response:/plan"):
        assert found[name].jobs == COUNT, name
    page = tmp_path / "view.html"
    write_view(tmp_path / "out", page)
    chain = "control.request:/plan → planner.service:/plan → control.response:/plan"
    assert chain in page.read_text(encoding="utf-8")
    refused = takt("model", tmp_path / "out", "-o", tmp_path / "no.app.yaml")
    assert refused.returncode == 2
    assert "contains no callback" in refused.stderr
    assert "Those of rclpy and rcl are not recorded" in refused.stderr
