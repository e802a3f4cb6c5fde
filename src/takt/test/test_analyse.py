# SPDX-License-Identifier: Apache-2.0
"""``takt analyse`` from the file to the exit code."""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

takt_core = pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from takt.errors import TaktError  # noqa: E402
from takt.schedule.analysis.ask import analyse  # noqa: E402
from takt.schedule.application.overheads import read_overheads  # noqa: E402

EXAMPLE = Path(__file__).parents[3] / "examples" / "docking.app.yaml"


def run(*arguments: str) -> tuple[int, str]:
    import typer

    from takt.cli.analyse import analyse as command

    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, list(arguments))
    if isinstance(result.exception, TaktError):
        raise result.exception
    return result.exit_code, result.output


def test_no_execution_time_is_printed_as_none(tmp_path: Path) -> None:
    file = tmp_path / "idle.app.yaml"
    file.write_text("cpus: [1]\npolicy: edf\nnodes:\n  a:\n    x: {timer: 10ms, wcet: 0ms}\n")
    callback = json.loads(run(str(file), "--json")[1])["scenarios"][0]["callbacks"][0]
    assert callback["wcet_us"] == 0


def test_the_factor_that_is_printed_is_guaranteed() -> None:
    file = EXAMPLE.parent / "two_processes.app.yaml"
    factor = json.loads(run(str(file), "--json")[1])["scenarios"][0]["sensitivity"]["factor"]
    said = re.search(r"guaranteed up to ([0-9.]+) times", run(str(file))[1])
    assert said is not None
    assert factor - 0.001 < float(said[1]) <= factor


def test_the_limit_of_round_numbers_is_found_exactly(tmp_path: Path) -> None:
    file = tmp_path / "late.app.yaml"
    late = "{timer: 10ms, wcet: 6ms, deadline: 5ms, priority: 1}"
    file.write_text(f"cpus: [1]\npolicy: fp\nnodes:\n  a:\n    x: {late}\n")
    found = json.loads(run(str(file), "--json")[1])["scenarios"][0]["sensitivity"]
    assert found["factor"] == pytest.approx(5 / 6, rel=1e-9)
    assert found["callbacks"]["a.x"] == found["factor"]
    assert "guaranteed up to 0.833 times" in run(str(file))[1]


def test_a_cycle_that_nothing_starts_is_said(tmp_path: Path) -> None:
    file = tmp_path / "cycle.app.yaml"
    file.write_text(
        "cpus: [1]\npolicy: edf\nnodes:\n  a:\n"
        "    x: {on: back, wcet: 1ms, writes: {forth: 8B}}\n"
        "    y: {on: forth, wcet: 1ms, writes: {back: 8B}}\n"
    )
    said = run(str(file))[1]
    assert "note: never released in any scenario: a.x, a.y; no timer" in said
    assert "guaranteed even with a million times the execution times" in said


def flat(*tasks: tuple[str, int, int, int], **more: Any) -> dict[str, Any]:
    """An application of timers: name, period, worst case, priority."""
    return {
        "version": 1,
        "name": "test",
        "callbacks": [
            {"name": name, "period": period, "execution": {"worst": worst}, "priority": priority}
            for name, period, worst, priority in tasks
        ],
        **more,
    }


def test_a_callback_that_waits_says_so_and_delays_others_by_computing_alone(tmp_path: Path) -> None:
    file = tmp_path / "waits.app.yaml"
    file.write_text(
        "nodes:\n"
        "  lidar:\n"
        "    read: {timer: 100ms, wcet: 1ms, suspension: 50ms, priority: 9}\n"
        "    control: {timer: 10ms, wcet: 2ms, priority: 1}\n"
    )
    code, output = run(str(file))
    assert code == 0
    assert "waits" in output
    assert "self-suspension (Chen et al. 2019)" in output
    read, control = json.loads(run(str(file), "--json")[1])["scenarios"][0]["callbacks"]
    assert (read["suspension_us"], read["response_us"]) == (50_000, 51_000)
    assert (control["suspension_us"], control["response_us"]) == (0, 3_000)
    assert not read["exact"]


def test_example_is_proved_and_names_its_papers() -> None:
    code, output = run(str(EXAMPLE), "--json")
    document = json.loads(output)
    assert code == 0
    assert document["schema_version"] == 1
    assert [scenario["name"] for scenario in document["scenarios"]] == ["cruise", "docking"]
    for scenario in document["scenarios"]:
        assert scenario["schedulable"]
        assert all(each["response_us"] <= each["deadline_us"] for each in scenario["callbacks"])
        assert all("Spuri 1996" in each["bound_by"] for each in scenario["callbacks"])
    docking = {each["name"]: each for each in document["scenarios"][1]["callbacks"]}
    assert docking["radar.scan"]["response_us"] == 3500


def test_terminal_says_that_overheads_are_left_out() -> None:
    code, output = run(str(EXAMPLE))
    assert code == 0
    assert "overheads: not included" in output
    assert "guard.brake" in output


def test_threads_that_share_all_callbacks_are_reported_together(tmp_path: Path) -> None:
    file = tmp_path / "shared.app.yaml"
    file.write_text(
        "executor: rclcpp_multi_threaded\ncpus: [0, 1]\n"
        "nodes: {n: {one: {timer: 10ms, wcet: 6ms}, two: {timer: 10ms, wcet: 6ms}}}\n"
    )
    code, output = run(str(file))
    assert code == 0
    assert "all cores together: utilization 120.0%, meets" in output
    assert "core 0" not in output


def test_methods_of_one_equation_share_a_line_and_no_line_ends_in_blanks() -> None:
    _, output = run(str(EXAMPLE.with_name("three_tasks.app.yaml")))
    lines = output.splitlines()
    (equation,) = (line for line in lines if line.startswith("eq. 2: "))
    assert "Lehoczky 1990" in equation
    assert "; or response time (Joseph & Pandya 1986" in equation
    assert lines == [line.rstrip() for line in lines]


def test_long_times_have_no_exponent(tmp_path: Path) -> None:
    file = tmp_path / "slow.app.yaml"
    file.write_text("policy: rm\nnodes: {n: {c: {timer: 1h, wcet: 1ms}}}\n")
    code, output = run(str(file))
    assert (code, "3600 s" in output) == (0, True), output


@pytest.mark.parametrize("columns", [100, 80, 60, 30])
def test_a_narrow_terminal_cuts_nothing_off(
    tmp_path: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cores.app.yaml"
    file.write_text(
        "cpus: [0, 1]\nnodes:\n"
        "  camera: {grab: {timer: 20ms, wcet: 3.25ms, priority: 61, cpu: 0, writes: {i: 1kB}}}\n"
        "  detector: {find: {on: i, wcet: 5ms, priority: 52, cpu: 1}}\n"
        "  disk: {store: {timer: 50ms, wcet: 1ms, suspension: 10.5ms, priority: 43, cpu: 1}}\n"
    )
    monkeypatch.setenv("COLUMNS", str(columns))
    code, output = run(str(file))
    assert code == 0
    assert "…" not in output
    words = ("61", "52", "43", "3.25 ms", "10.5 ms", "meets", "eq. 13", "core", "prio", "waits")
    assert [one for one in words if one not in output.partition("eq. 2:")[0]] == []
    if columns >= 60:
        assert "detector.find" in output  # in one piece


def test_a_deadline_that_is_not_guaranteed_is_exit_code_1(tmp_path: Path) -> None:
    file = tmp_path / "late.app.yaml"
    file.write_text(
        "policy: edf\nnodes:\n"
        "  a: {x: {timer: 10ms, wcet: 6ms}}\n  b: {y: {timer: 10ms, wcet: 6ms}}\n"
    )
    code, output = run(str(file))
    assert code == 1
    assert "misses" in output


def test_overheads_come_from_the_document_of_the_benchmark(tmp_path: Path) -> None:
    file = tmp_path / "overheads.json"
    file.write_text(json.dumps({"schema_version": 1, "upper": {"dispatch": 100_000.2}}))
    code, output = run(str(EXAMPLE), "--json", "--overheads", str(file))
    document = json.loads(output)
    assert code == 0
    assert document["overheads"]["dispatch_us"] == pytest.approx(100.001)
    scan = document["scenarios"][0]["callbacks"][0]
    assert scan["wcet_us"] == pytest.approx(1600.001)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "not valid JSON"),
        ("[]", "missing"),
        ('{"upper": {"speed": 1}}', "unknown overhead"),
        ('{"upper": {"dispatch": -1}}', "must be a time"),
    ],
)
def test_wrong_overheads_are_named(tmp_path: Path, text: str, what: str) -> None:
    file = tmp_path / "overheads.json"
    file.write_text(text)
    with pytest.raises(TaktError, match=what) as caught:
        read_overheads(file)
    assert str(caught.value.where).partition(":")[0] == str(file)


def test_what_an_executor_refuses_has_a_fix() -> None:
    with pytest.raises(TaktError, match="needs a priority") as caught:
        analyse(flat(("a", 10, 1, 0)), "app.yaml")
    assert caught.value.where == "app.yaml"
    assert caught.value.fix is not None


def test_proposed_priorities_are_accepted() -> None:
    late = flat(("a", 10, 4, 1), ("b", 40, 12, 2), ("c", 80, 10, 3))
    scenario = analyse(late, "").scenarios[0]
    assert not scenario.schedulable
    proposed = scenario.proposals.priorities
    assert proposed is not None
    for callback in late["callbacks"]:
        callback["priority"] = proposed[callback["name"]]
    assert analyse(late, "").scenarios[0].schedulable


def test_a_release_without_least_distance_is_no_number_in_json() -> None:
    app = flat(("a", 10, 1, 2))
    app["callbacks"].append(
        {
            "name": "m",
            "kind": "message",
            "trigger": "x",
            "execution": {"worst": 1},
            "priority": 1,
        }
    )
    app["topics"] = [{"name": "x", "external": True}]
    analysis = analyse(app, "")
    json.dumps(analysis.model_dump(), allow_nan=False)
    assert analysis.verdict == "not_proved"
    assert analysis.scenarios[0].cores[0].utilization is None
    assert analysis.scenarios[0].callbacks[0].meets


def test_edf_of_implicit_deadlines_is_accepted_up_to_a_load_of_one() -> None:
    """Liu & Layland 1973, decided in exact fractions, by each of the three ways in."""
    source = random.Random(7)
    documents, loads, columns, first = [], [], [], [0]
    for _ in range(200):
        tasks = [
            (f"t{i}", period, source.randint(1, period // 2), 1)
            for i in range(source.randint(2, 5))
            for period in [source.choice([4, 5, 6, 8, 10, 12, 15, 20])]
        ]
        documents.append(json.dumps(flat(*tasks, policy="edf")))
        loads.append(sum(Fraction(worst, period) for _, period, worst, _ in tasks))
        columns += [(period, worst) for _, period, worst, _ in tasks]
        first.append(len(columns))
    expected = [load <= 1 for load in loads]
    assert 20 < sum(expected) < 180
    assert takt_core.analyse_many(documents) == expected
    period, worst = np.array(columns, dtype=np.int64).T.copy()
    rows = np.array(first, dtype=np.int64)
    priority = np.ones_like(period)
    answers = takt_core.analyse_sets("edf", rows, period, period, worst, priority)
    assert [bool(answer) for answer in answers] == expected
    for document, accepted in zip(documents[:40], expected[:40], strict=True):
        assert takt_core.analyse(document)["scenarios"][0]["schedulable"] == accepted


def test_the_verdict_says_which_supply_it_assumes(tmp_path: Path) -> None:
    path = tmp_path / "x.app.yaml"
    path.write_text(
        "cores: {0: {supply: {budget: 4ms, period: 5ms}}}\n"
        "nodes: {n: {c: {timer: 10ms, wcet: 3ms, deadline: 5ms, priority: 1}}}\n",
        encoding="utf-8",
    )
    code, output = run(str(path))
    assert code == 0
    assert "policy fp: meets, assuming the declared supply of core 0" in output
    assert output.count("assuming") == 1
    path.write_text(path.read_text(encoding="utf-8").replace("wcet: 3ms", "wcet: 3.001ms"))
    code, output = run(str(path))
    assert code == 1
    assert "not proved, assuming the declared supply of core 0" in output
