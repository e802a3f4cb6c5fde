# SPDX-License-Identifier: Apache-2.0
"""takt analyse --assign: what it writes is proved, and reads back as the same application."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from command_line import takt

from takt.errors import TaktError
from takt.schedule.analysis.assign import assign
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.generate.files import generate
from takt.schedule.generate.space import read_space
from takt.schedule.timing.file import read_timing, timing_yaml

EXAMPLES = Path(__file__).parents[3] / "examples"
MS = 1_000_000
HARD = """
cpus: [0, 1]
policy: fp
nodes:
  a: {t: {timer: 10ms, wcet: 4ms, priority: 10}}
  # a comment that stays
  b: {t: {timer: 20ms, wcet: 9ms, priority: 20}}
  c: {t: {timer: 40ms, wcet: 15ms, priority: 30, writes: [x]}}
  d:
    t: {timer: 40ms, wcet: 10ms, priority: 40, reads: {x: {max_age: 200ms}, y: {}}}
    m: {on: x, wcet: 1ms, priority: 50, group: g, overrun: catch_up}
topics: {y: {external_period: 0s}}
"""


@pytest.fixture
def hard(tmp_path: Path) -> Path:
    path = tmp_path / "hard.app.yaml"
    path.write_text(HARD)
    return path


def run(*arguments: object) -> int:
    return takt(["analyse", *map(str, arguments)])


def test_what_is_written_is_guaranteed_and_keeps_the_comments(
    hard: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(hard) == 1
    out = tmp_path / "assigned.app.yaml"
    assert run(hard, "--assign", out) == 0
    capsys.readouterr()
    assert run(out, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["verdict"] == "meets"
    assert "# a comment that stays" in out.read_text()
    before = {one["name"]: one for one in flat(read_application(hard))["callbacks"]}
    for one in flat(read_application(out))["callbacks"]:
        chosen = {"priority", "deadline", "cpu"}
        assert {key for key in one if one[key] != before[one["name"]].get(key)} <= chosen
        assert chosen <= one.keys()
    assert run(out, "--assign", out) == 0  # its own file may be replaced
    assert run(hard, "--assign", hard) == 2
    assert "was not written by --assign" in capsys.readouterr().err
    assert hard.read_text() == HARD


@pytest.mark.parametrize(
    "second",
    [
        "b: {t: *callback}",
        "b: *node",
        "b: {t: {<<: *callback, wcet: 5ms}}",
        "b: {t: {<<: *callback}}",
    ],
)
def test_callbacks_that_share_their_text_get_values_of_their_own(
    tmp_path: Path, second: str
) -> None:
    source, out = tmp_path / "shared.app.yaml", tmp_path / "assigned.app.yaml"
    source.write_text(
        "cpus: [0, 1]\npolicy: dm\nnodes:\n"
        f"  a: &node {{t: &callback {{timer: 10ms, wcet: 6ms}}}}  # as fast as it goes\n"
        f"  {second}\n"
    )
    assert run(source, "--assign", out) == 0
    assert run(out) == 0
    assert [one["cpu"] for one in flat(read_application(out))["callbacks"]] == [0, 1]
    assert "# as fast as it goes" in out.read_text()


def test_the_timing_file_says_the_same_to_an_executor(hard: Path, tmp_path: Path) -> None:
    out, timing = tmp_path / "assigned.app.yaml", tmp_path / "robot.timing.yaml"
    assert run(hard, "--assign", out, "--assign", timing) == 0
    document = flat(read_application(out))
    timed = read_timing(timing)
    assert (timed.policy, timed.cpus) == (document["policy"], document["cpus"])
    for one, application in zip(timed.callbacks, document["callbacks"], strict=True):
        for key in ("priority", "deadline", "cpu", "budget"):
            assert getattr(one, key) == application.get(key)
        assert one.expected_execution == application["execution"]["worst"]
    names = [(one.node, one.kind, one.name, one.ordinal) for one in timed.callbacks]
    assert names[0] == ("/a", "timer", None, 0)
    assert names[-1] == ("/d", "subscription", "/x", None)
    reads = {topic: read.max_age for topic, read in timed.callbacks[3].reads.items() if read}
    assert reads == {"/x": 200 * MS, "/y": None}


@pytest.mark.parametrize(
    ("recorded", "found"),
    [
        ("planner.timer1", ("/planner", "timer", None, 1)),
        ("arm/planner.subscription:/scan", ("/arm/planner", "subscription", "/scan", 0)),
        ("planner.service:/ns/reset#2", ("/planner", "service", "/ns/reset", 2)),
        ("planner.waitable0", ("/planner", "waitable", None, 0)),
        ("something else", ("/planner", "timer", None, 0)),
    ],
)
def test_a_callback_is_found_by_the_name_that_the_executor_has(
    tmp_path: Path, recorded: str, found: tuple[object, ...]
) -> None:
    callback = {"name": "planner.one", "execution": {"worst": 60_000 * MS}, "suspension": 5}
    path = tmp_path / "made.timing.yaml"
    path.write_text(timing_yaml({"callbacks": [callback]}, "made", {"planner.one": recorded}))
    (one,) = read_timing(path).callbacks
    assert (one.node, one.kind, one.name, one.ordinal) == found
    assert one.waits
    assert "expected_execution: 1min" in path.read_text()


@pytest.mark.parametrize(
    ("callback", "said"),
    [
        ("{node: a, kind: timer, name: timer0, priorty: 3}", "did you mean priority"),
        ("{node: a, kind: clock, name: timer0}", "kind"),
        ("{node: a, kind: timer, name: timer0, deadline: 5}", "5"),
        ("{node: a, kind: timer, ordinal: -1}", "must be at least 0"),
        ("{node: arm/planner}", "is no full name: write it with its namespace, /arm/planner"),
        ('{node: "*"}', "is a pattern, not a full name: write an entry for each, or leave out"),
        ('{name: "/cam/*"}', "is a pattern, not a full name"),
        ("{name: scan}", "is no full name: write it with its namespace, /scan"),
        ("{reads: {scan: {max_age: 1ms}}}", "is no full name"),
        ("{cpu: 2}\ncpus: [0, 1]", "core 2 is none of cpus"),
        ("{cpu: 1}\ncpus: [1, 0, 1]", "core 1 stands here twice"),
        ("{cpu: 0}\ncpus: [0, 0]", "core 0 stands here twice"),
    ],
)
def test_faults_of_a_timing_file_are_reported(tmp_path: Path, callback: str, said: str) -> None:
    path = tmp_path / "bad.timing.yaml"
    path.write_text(f"callbacks:\n- {callback}\n")
    with pytest.raises(TaktError, match=said) as error:
        read_timing(path)
    assert str(path) in (error.value.where or "")


def test_scenarios_have_no_timing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    docking = EXAMPLES / "docking.app.yaml"
    assert run(docking, "--assign", tmp_path / "docking.timing.yaml") == 2
    assert "has no scenarios" in capsys.readouterr().err
    assert run(docking, "--assign", tmp_path / "docking.app.yaml") == 0
    written = flat(read_application(tmp_path / "docking.app.yaml"))
    assert written == flat(read_application(docking))


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_that_was_guaranteed_is_lost(tmp_path: Path, seed: int) -> None:
    """Of generated applications on several cores; many are helped by another assignment."""
    helped = 0
    for one in generate(read_space(EXAMPLES / "whole_space.json"), 2, seed):
        document: dict[str, Any] = one.flat | {"scenarios": [], "switches": []}
        document.pop("default_scenario", None)
        try:
            found = assign(document, "made")
        except TaktError:
            continue  # no policy takes it
        path = tmp_path / "made.app.yaml"
        path.write_text(app_yaml(found.flat, "made"))
        again = assign(flat(read_application(path)), "made")
        assert again.analysis.verdict == found.analysis.verdict, one.name
        helped += found.how != f"policy {document['policy']}, as described"
    assert helped


@pytest.mark.parametrize("policy", ["p-rm", "cw-edf"])
def test_policies_that_idle_on_purpose_keep_their_policy_on_other_cores(policy: str) -> None:
    """Three thirds and two halves: the executor's placement puts both kinds on each core."""
    callbacks = [
        {"name": name, "period": period * MS, "execution": {"worst": worst * MS}}
        for name, period, worst in [
            ("a", 10, 5),
            ("b", 10, 5),
            ("c", 30, 10),
            ("d", 30, 10),
            ("e", 30, 10),
        ]
    ]
    found = assign(
        {"version": 1, "name": "x", "cpus": [0, 1], "policy": policy, "callbacks": callbacks}, "x"
    )
    assert found.analysis.verdict == "meets"
    assert found.how == f"policy {policy}, as described, cores packed by its test"
    cores = {one["name"]: one["cpu"] for one in found.flat["callbacks"]}
    assert cores["a"] == cores["b"]
    assert cores["c"] == cores["d"] == cores["e"] != cores["a"]


@pytest.mark.parametrize("runtime", ["4ms", "1ms"])
def test_a_reservation_gets_the_smallest_budget_that_guarantees_everything(
    tmp_path: Path, runtime: str
) -> None:
    text = (EXAMPLES / "reservations.app.yaml").read_text(encoding="utf-8")
    described = f"runtime: {runtime}, deadline: 8ms, period: 10ms"
    text = text.replace("runtime: 4ms, deadline: 8ms, period: 10ms", described)
    app, out = tmp_path / "robot.app.yaml", tmp_path / "assigned.app.yaml"
    app.write_text(text)
    assert run(app, "--assign", out) == 0
    assert run(out) == 0
    before, after = (
        flat(read_application(file))["processes"][0]["reservation"] for file in (app, out)
    )
    share = 0.4 if runtime == "4ms" else 1.0
    assert after["runtime"] / after["period"] < share
    assert after["runtime"] <= after["deadline"] <= after["period"]
    assert "# Four ways in which the kernel" in out.read_text()
    assert before != after
