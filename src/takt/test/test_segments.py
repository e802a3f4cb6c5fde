# SPDX-License-Identifier: Apache-2.0
"""Segments of callbacks, from the file through analysis and simulation to generated code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

takt_core = pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from takt.errors import TaktError  # noqa: E402
from takt.schedule.analysis.ask import analyse  # noqa: E402
from takt.schedule.application.dump import app_yaml  # noqa: E402
from takt.schedule.application.file import read_application  # noqa: E402
from takt.schedule.application.flat import flat  # noqa: E402
from takt.schedule.campaign.judge import varies  # noqa: E402
from takt.schedule.generate.code import write_packages  # noqa: E402
from takt.schedule.simulation.simulate import simulate  # noqa: E402

MS = 1_000_000
TEXT = """
nodes:
  a: {high: {timer: 20ms, segments: [2ms, {wait: 6ms}, 2ms], priority: 20}}
  b: {low: {timer: 40ms, wcet: 12ms, priority: 10}}
"""
RANGES = "[2ms, {wait: {best: 1ms, worst: 6ms}}, {best: 1ms, worst: 2ms}]"


def document(folder: Path, text: str) -> dict[str, Any]:
    file = folder / "segments.app.yaml"
    file.write_text(text, encoding="utf-8")
    return flat(read_application(file))


def test_the_file_says_what_the_core_parses(tmp_path: Path) -> None:
    found = document(tmp_path, TEXT.replace("[2ms, {wait: 6ms}, 2ms]", RANGES))
    callback = found["callbacks"][0]
    assert callback["segments"] == [
        {"shortest": 2 * MS, "longest": 2 * MS},
        {"shortest": MS, "longest": 6 * MS},
        {"shortest": MS, "longest": 2 * MS},
    ]
    assert callback["execution"] == {
        "best": 3 * MS,
        "worst": 4 * MS,
        "quantiles": [3 * MS, 4 * MS],
    }
    assert (callback["suspension"], callback["suspensions"]) == (6 * MS, 1)
    assert document(tmp_path, app_yaml(found, "again")) == found
    assert varies(found)


@pytest.mark.parametrize(
    ("segments", "words"),
    [
        ("[2ms]", "compute and wait in turn, and begin and end by computing"),
        ("[2ms, {wait: 6ms}]", "begin and end by computing"),
        ("[2ms, 2ms, 2ms]", "compute and wait in turn"),
        ("[2ms, {wait: 6ms, worst: 1ms}, 2ms]", "either computes, .* or waits"),
        ("[2ms, {}, 2ms]", "either computes, .* or waits"),
        ("[0ms, {wait: 6ms}, 2ms]", "must be greater than 0"),
        ("[2ms, {wait: 0ms}, 2ms]", "must be greater than 0"),
        ("[{best: 3ms, worst: 2ms}, {wait: 1ms}, 2ms]", "best 3ms is above worst 2ms"),
        ("[2ms, {wait: {best: 3ms, worst: 2ms}}, 2ms]", "best 3ms is above worst 2ms"),
        ("[2ms, {wait: 6ms}, 2ms], wcet: 4ms, suspension: 6ms", "remove wcet and suspension"),
    ],
)
def test_what_is_wrong_with_segments_is_said(tmp_path: Path, segments: str, words: str) -> None:
    with pytest.raises(TaktError, match=words) as error:
        document(tmp_path, TEXT.replace("[2ms, {wait: 6ms}, 2ms]", segments))
    assert "segments.app.yaml:3" in str(error.value)


def test_the_analysis_uses_the_lengths_and_says_so(tmp_path: Path) -> None:
    text = "policy: fp" + TEXT
    low = analyse(document(tmp_path, text), "here").scenarios[0].callbacks[1]
    assert (low.response_us, low.bound_by) == (
        16_000,
        "segments of known lengths (after Huang & Chen 2016), eq. 30",
    )
    anywhere = text.replace(
        "segments: [2ms, {wait: 6ms}, 2ms]", "wcet: 4ms, suspension: 6ms, suspensions: 1"
    )
    low = analyse(document(tmp_path, anywhere), "here").scenarios[0].callbacks[1]
    assert low.response_us == 20_000


CALLS = """
policy: fp
nodes:
  control: {step: {timer: 20ms, segments: [1ms, {call: /plan}, 1ms], priority: 20}}
  planner: {plan: {service: /plan, wcet: 3ms, priority: 30}}
  vision: {detect: {timer: 40ms, wcet: 12ms, priority: 10}}
"""


def test_a_call_is_analysed_and_simulated_as_the_wait_for_its_server(tmp_path: Path) -> None:
    found = document(tmp_path, CALLS)
    step, plan, _ = found["callbacks"]
    assert step["segments"][1] == {"call": "/plan"}
    assert (step["suspension"], step["suspensions"]) == (0, 1)
    assert (plan["kind"], plan["trigger"]) == ("service", "/plan")
    assert document(tmp_path, app_yaml(found, "again")) == found
    bounds = analyse(found, "here").scenarios[0].callbacks
    assert [one.response_us for one in bounds] == [5_000, 3_000, 17_000]
    assert "waits for responses of services" in bounds[0].bound_by
    longest = simulate(found, where="here").callbacks
    assert [one.worst_response_ns for one in longest] == [5 * MS, 3 * MS, 17 * MS]


@pytest.mark.parametrize(
    ("before", "after", "words", "line"),
    [
        ("{call: /plan}", "{call: /plant}", "has no server\\n.*did you mean '/plan'", 4),
        ("1ms, {call: /plan}, 1ms", "{call: /plan}", "begin and end by computing", 4),
        ("{call: /plan}", "{call: /plan, wait: 1ms}", "either computes, .* or waits", 4),
        ("wcet: 3ms", "segments: [1ms, {call: /plan}, 1ms]", "deadlock", 5),
        ("service: /plan", "service: /plan, timer: 1s", "has either timer", 5),
        ("policy: fp", "executor: rclcpp_single_threaded", "same thread", 4),
    ],
)
def test_what_is_wrong_with_calls_is_said(
    tmp_path: Path, before: str, after: str, words: str, line: int
) -> None:
    with pytest.raises(TaktError, match=words) as error:
        analyse(document(tmp_path, CALLS.replace(before, after)), "here")
    assert f"segments.app.yaml:{line}" in str(error.value) or "here" in str(error.value)


ASYNCHRONOUS = """
policy: fp
nodes:
  control:
    step: {timer: 20ms, wcet: 1ms, priority: 20, requests: [/plan]}
    planned: {response: /plan, wcet: 1ms, priority: 10, writes: [path]}
  planner: {plan: {service: /plan, wcet: 3ms, priority: 30}}
  drive: {go: {on: path, wcet: 1ms, priority: 5}}
chains:
  way: {callbacks: [control.step, planner.plan, control.planned, drive.go]}
"""


def test_a_request_without_a_wait_is_a_message_and_so_is_the_response(tmp_path: Path) -> None:
    found = document(tmp_path, ASYNCHRONOUS)
    step, planned, plan, _ = found["callbacks"]
    assert [one.get("overrun") for one in (step, planned, plan)] == [None, *["catch_up"] * 2]
    queues = {one["name"]: one.get("depth") for one in found["topics"]}
    assert {queues[plan["trigger"]], queues[planned["trigger"]]} == {10}
    written = app_yaml(found, "again")
    for text in ("requests: [/plan]", "response: /plan", "service: /plan"):
        assert text in written
    assert "_service" not in written
    again = document(tmp_path, written)
    assert again["callbacks"] == found["callbacks"]
    (scenario,) = analyse(found, "here").scenarios
    # One after the other on one core: the server preempts its client, which has done its work.
    assert [one.response_us for one in scenario.callbacks] == [4_000, 1_000, 3_000, 1_000]
    assert scenario.chains[0].latency_us == 6_000
    assert simulate(found, where="here").chains[0].latency.max_us == 6_000


def test_requests_from_outside_are_declared_below_topics(tmp_path: Path) -> None:
    outside = ASYNCHRONOUS + "topics: {/plan: {external_period: 5ms, depth: 3}}\n"
    found = document(tmp_path, outside)
    assert document(tmp_path, app_yaml(found, "again"))["callbacks"] == found["callbacks"]
    plan = simulate(found, where="here", duration=1_000 * MS).callbacks[2]
    assert plan.jobs == 200 + 50  # those of the client, too


@pytest.mark.parametrize(
    ("before", "after", "words", "line"),
    [
        ("requests: [/plan]", "requests: [/plam]", "/plam has no server\n.*services are /plan", 5),
        ("response: /plan", "response: /path", "/path has no server", 6),
        ("on: path", "on: path, response: /plan", "has either timer", 8),
        ("requests: [/plan]", "requests: [/plan, /plan]", "duplicate name", 5),
    ],
)
def test_what_is_wrong_with_requests_is_said(
    tmp_path: Path, before: str, after: str, words: str, line: int
) -> None:
    with pytest.raises(TaktError, match=words) as error:
        document(tmp_path, ASYNCHRONOUS.replace(before, after))
    assert f"segments.app.yaml:{line}" in str(error.value)


def test_a_service_is_called_and_requested_without_a_wait(tmp_path: Path) -> None:
    text = ASYNCHRONOUS.replace(
        "go: {on: path, wcet: 1ms,", "go: {timer: 40ms, segments: [1ms, {call: /plan}, 1ms],"
    ).replace(", drive.go", "")
    found = document(tmp_path, text)
    again = app_yaml(found, "again")
    assert "_service" not in again
    assert document(tmp_path, again)["callbacks"] == found["callbacks"]
    (scenario,) = analyse(found, "here").scenarios
    simulated = simulate(found, where="here")
    for bound, run in zip(scenario.callbacks, simulated.callbacks, strict=True):
        assert bound.response_us is not None
        assert run.worst_response_ns <= 1_000 * bound.response_us
    assert simulated.callbacks[2].jobs * 2 == simulated.callbacks[0].jobs * 3
    assert scenario.chains[0].latency_us is not None


def test_a_request_that_may_be_lost_leaves_the_client_without_a_bound(tmp_path: Path) -> None:
    text = CALLS.replace("timer: 20ms", "timer: 200ms")
    text += "topics: {/plan: {external_period: 1s, external_burst: 9}}\n"
    found = document(tmp_path, text)
    assert analyse(found, "here").scenarios[0].callbacks[0].response_us is not None
    found = document(tmp_path, text.replace("burst: 9", "burst: 10"))
    (scenario,) = analyse(found, "here").scenarios
    assert scenario.callbacks[0].response_us is None
    (note,) = [one for one in scenario.remarks if "may lose" in one]
    assert "requests of service '/plan': up to 11 wait at once, and its queue holds 10" in note


def test_a_chain_leads_to_the_server_and_back(tmp_path: Path) -> None:
    path = ["control.step", "planner.plan", "control.step", "vision.detect"]
    text = CALLS.replace("detect: {timer: 40ms,", "detect: {on: path,").replace(
        "priority: 20}", "priority: 20, writes: [path]}"
    )
    found = document(tmp_path, f"{text}chains: {{way: {{callbacks: [{', '.join(path)}]}}}}\n")
    (chain,) = analyse(found, "here").scenarios[0].chains
    assert chain.callbacks == path
    assert "eq. 32" in chain.bound_by
    (run,) = simulate(found, where="here").chains
    assert run.latency.max_us == 5_000 + 12_000
    assert chain.latency_us is not None
    assert chain.latency_us >= run.latency.max_us


DEVICES = """
policy: fp
cpus: [0, 1]
nodes:
  a: {camera: {timer: 20ms, cpu: 0, segments: [1ms, {wait: 5ms, device: gpu}, 1ms], priority: 20}}
  b:
    lidar:
      timer: 40ms
      cpu: 1
      segments: [1ms, {wait: {best: 1ms, worst: 4ms}, device: gpu}, 2ms]
      priority: 10
"""


def test_a_device_serves_one_request_after_the_other(tmp_path: Path) -> None:
    found = document(tmp_path, DEVICES)
    assert found["callbacks"][0]["segments"][1] == {
        "shortest": 5 * MS,
        "longest": 5 * MS,
        "device": "gpu",
    }
    assert document(tmp_path, app_yaml(found, "again")) == found
    bounds = analyse(found, "here").scenarios[0].callbacks
    assert [one.response_us for one in bounds] == [11_000, 12_000]
    assert "eq. 36" in bounds[0].bound_by
    longest = simulate(found, where="here").callbacks
    assert [one.worst_response_ns for one in longest] == [7 * MS, 12 * MS]
    takt, *_ = write_packages(found, tmp_path)
    (source,) = takt.glob("src/*.cpp")
    assert "devices::gpu_.occupy(1ms, 4ms);" in source.read_text(encoding="utf-8")
    (work,) = takt.glob("src/*.hpp")
    assert "inline Device gpu_;" in work.read_text(encoding="utf-8")
    with pytest.raises(TaktError, match="for how long"):
        document(tmp_path, DEVICES.replace("wait: 5ms, ", ""))


def test_no_code_is_generated_for_calls(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="does not call services yet"):
        write_packages(document(tmp_path, CALLS), tmp_path)


def test_generated_code_computes_and_sleeps_in_turn(tmp_path: Path) -> None:
    found = document(tmp_path, TEXT.replace("[2ms, {wait: 6ms}, 2ms]", RANGES))
    takt, *_ = write_packages(found, tmp_path)
    (source,) = takt.glob("src/*.cpp")
    lines = [line.strip() for line in source.read_text(encoding="utf-8").splitlines()]
    begin = lines.index("compute(std::array<nanoseconds, 1>{2ms});")
    assert lines[begin + 1 : begin + 3] == [
        "std::this_thread::sleep_for(6ms);",
        "compute(std::array<nanoseconds, 2>{1ms, 2ms});",
    ]
