# SPDX-License-Identifier: Apache-2.0
"""Faults of a robot's description: each is named with the line that it is on, and with its fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from takt.errors import TaktError
from takt.schedule.analysis.ask import analyse
from takt.schedule.application.file import located, read_application
from takt.schedule.application.flat import flat

ROBOT = """processes:
  fast: {cpu: 1, priority: 80, policy: fp, nodes: [motor]}
  slow: {cpu: 1, priority: 40, policy: np-fp, nodes: [camera]}
middleware: {latency: [50us, 300us]}
nodes:
  motor: {drive: {timer: 10ms, wcet: 1ms, priority: 20, reads: [path]}}
  camera: {grab: {timer: 30ms, wcet: 3ms, priority: 20, writes: [path]}}
topics: {path: {depth: 2}}
"""
HOSTS = ROBOT.replace("fast: {", "fast: {host: a, ").replace("slow: {", "slow: {host: b, ")
LINK = "links:\n  - {hosts: [a, b], latency: [1ms, 2ms]}\n"


def _analyse(path: Path) -> None:
    application = read_application(path)
    with located(application):
        analyse(flat(application), str(path))


def said(folder: Path, text: str) -> str:
    path = folder / "x.app.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TaktError) as caught:
        _analyse(path)
    assert caught.value.fix
    return str(caught.value)


@pytest.mark.parametrize(
    ("before", "after", "line", "expected"),
    [
        ("np-fp", "np-fpp", 3, "did you mean 'np-fp'?"),
        ("np-fp", "NP-FP", 3, "did you mean 'np-fp'?"),
        (
            "policy: np-fp",
            "policy: fp, executor: rclcpp_events",
            3,
            "has an order of its own, and a policy is given",
        ),
        ("[50us, 300us]", "300us", 4, "give the shortest and the longest, such as [50us, 300us]"),
        ("[50us, 300us]", "[1us, 2us, 3us]", 4, "give the shortest and the longest"),
        ("[path]}}\n  camera", "{path: {max_age: 0ms}}}}\n  camera", 6, "must be greater than 0"),
        ("topics: {path:", "topics: {pth:", 8, "no callback or thread has topic pth"),
        ("topics: {path:", "topics: {pth:", 8, "did you mean path?"),
    ],
)
def test_a_fault_of_a_robot_is_named_with_its_line(
    tmp_path: Path, before: str, after: str, line: int, expected: str
) -> None:
    text = said(tmp_path, ROBOT.replace(before, after, 1))
    assert f"x.app.yaml:{line}: " in text
    assert expected in text


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("[a, b]", "[a, c]", "no process runs on host 'c'"),
        ("[a, b]", "[a, a]", "both ends are the same host"),
        ("[1ms, 2ms]", "2ms", "give the shortest and the longest, such as [200us, 2ms]"),
    ],
)
def test_a_fault_of_a_link_is_named_with_its_line(
    tmp_path: Path, before: str, after: str, expected: str
) -> None:
    text = said(tmp_path, HOSTS + LINK.replace(before, after, 1))
    assert "x.app.yaml:10: " in text
    assert expected in text


def test_the_keys_that_are_allowed_have_the_names_of_the_file(tmp_path: Path) -> None:
    text = said(tmp_path, ROBOT + "overheads: {fom: x}\n")
    assert "did you mean from?" in text
    assert "measured" not in text


def test_the_topics_of_services_and_of_threads_may_be_described(tmp_path: Path) -> None:
    path = tmp_path / "x.app.yaml"
    path.write_text(
        ROBOT.replace("nodes: [motor]}", "nodes: [motor], threads: {t: {receives: {path: 1us}}}}")
        .replace("t: {receives", "t: {priority: 90, receives")
        .replace("  motor: {", "  motor: {ask: {service: /plan, wcet: 1ms, priority: 5}, ")
        .replace("{path: {depth: 2}}", "{path: {depth: 2}, /plan: {external_period: 1s}}")
    )
    assert read_application(path).topics
