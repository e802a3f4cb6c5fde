# SPDX-License-Identifier: Apache-2.0
"""Violations: what counts as one, how small it gets, and that nobody can overlook it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import takt_core
import typer

from takt.cli.campaign import campaign
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.campaign import batch as work
from takt.schedule.campaign import cluster, judge
from takt.schedule.campaign.batch import evaluate
from takt.schedule.campaign.judge import Play, plays, violations
from takt.schedule.campaign.model import Batch, Campaign
from takt.schedule.campaign.shrink import shrink
from takt.schedule.generate.space import read_space

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
MS = 1_000_000


def timer(name: str, **more: Any) -> dict[str, Any]:
    worst = more.pop("worst", MS)
    return {
        "name": f"{name}.run",
        "node": name,
        "period": 10 * MS,
        "priority": 50,
        "execution": {"best": worst, "worst": worst, "quantiles": [worst]},
        "reads": [],
        "writes": [],
        **more,
    }


def application(*callbacks: dict[str, Any], **more: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {"version": 1, "name": "app", "policy": "fp", "topics": []}
    return plain | {"callbacks": list(callbacks)} | more


def pipeline() -> dict[str, Any]:
    """A chain of three with an age limit, two scenarios and a switch."""
    varying = {"best": MS // 2, "worst": MS, "quantiles": [MS // 2, MS]}
    return application(
        timer("a", writes=["x"], budget=MS),
        timer("b", reads=[{"topic": "x", "max_age": 40 * MS}], writes=["y"]),
        timer("c", reads=[{"topic": "y"}], execution=varying),
        topics=[{"name": "x", "bytes": 10, "depth": 3}, {"name": "y", "bytes": 10}],
        chains=[{"name": "path", "callbacks": ["a.run", "b.run", "c.run"]}],
        scenarios=[
            {"name": "slow", "tasks": []},
            {"name": "fast", "tasks": [{"task": "c.run", "period": 5 * MS}]},
        ],
        switches=[{"at": 30 * MS, "scenario": "fast"}],
    )


def reported(document: dict[str, Any]) -> dict[str, Any]:
    report: dict[str, Any] = takt_core.analyse(
        json.dumps(document), sensitivity=False, proposals=False
    )
    return report


def simulated(play: Play) -> dict[str, Any]:
    text = json.dumps(play.document)
    (result,) = takt_core.simulate_many([text], seed=play.seed, execution=play.execution)
    return result


def kinds(report: dict[str, Any], play: Play) -> list[str]:
    return [one.kind for one in violations(report, play, simulated(play))]


def test_each_scenario_is_played_alone_and_the_switches_once() -> None:
    played = list(plays(pipeline(), 7))
    assert [(one.scenario, one.execution) for one in played] == [
        (scenario, execution)
        for execution in ("worst", "drawn")  # what c computes may be drawn
        for scenario in ("slow", "fast", None)
    ]
    for one in played:
        assert bool(one.document["switches"]) == (one.scenario is None)
    constant = application(timer("a"))
    assert [(one.document, one.execution) for one in plays(constant, 7)] == [(constant, "worst")]


@pytest.mark.parametrize("kind", ["response", "latency", "reaction", "age", "data age"])
def test_whatever_is_above_its_bound_is_a_violation_and_what_reaches_it_is_not(kind: str) -> None:
    document = pipeline()
    play = next(plays(document, 1))
    assert kinds(reported(document), play) == []
    shown = simulated(play)
    reached = {
        "response": shown["callbacks"][1]["worst_response_ns"] / 1000,
        "data age": shown["callbacks"][1]["sample_age"]["max_us"],
    }
    for name in ("latency", "reaction", "age"):
        reached[name] = shown["chains"][0][name]["max_us"]
    for less, expected in ((0.0, []), (0.001, [kind])):
        report = reported(document)
        scenario = report["scenarios"][0]
        bound = reached[kind] - less
        if kind == "response":
            scenario["callbacks"][1] |= {"response_us": bound, "exact": False}
        elif kind == "data age":
            scenario["ages"][0]["age_us"] = bound
        else:
            scenario["chains"][0][f"{kind}_us"] = bound
        assert kinds(report, play) == expected


def test_a_miss_of_a_callback_that_is_said_to_meet_its_deadline_is_a_violation() -> None:
    late = application(timer("a", worst=6 * MS, priority=60), timer("b", worst=6 * MS))
    report, play = reported(late), next(plays(late, 1))
    assert kinds(report, play) == []  # nobody said otherwise
    callback = report["scenarios"][0]["callbacks"][1]
    assert callback["verdict"] == "misses"
    callback |= {"verdict": "meets", "response_us": None, "exact": False}
    assert kinds(report, play) == ["miss"]


def test_a_bound_that_is_called_exact_and_never_reached_is_a_violation() -> None:
    document = application(timer("a"))
    report, play = reported(document), next(plays(document, 1))
    callback = report["scenarios"][0]["callbacks"][0]
    assert (callback["exact"], kinds(report, play)) == (True, [])
    callback["response_us"] += 1
    assert kinds(report, play) == ["exact"]
    callback["exact"] = False
    assert kinds(report, play) == []


def test_a_run_with_switches_is_held_to_the_limits_where_the_whole_is_guaranteed_only() -> None:
    document = pipeline()
    document["chains"][0]["max_latency"] = 1  # ns: broken at once
    play = next(one for one in plays(document, 1) if one.scenario is None)
    report = reported(document)
    assert (report["verdict"], kinds(report, play)) == ("not_proved", [])
    assert kinds(report | {"verdict": "meets"}, play) == ["switch"]


def test_what_does_not_matter_to_a_violation_is_shrunk_away() -> None:
    space = read_space(EXAMPLES / "whole_space.json")
    documents = [one.flat for one in work.applications(space, 5, Batch(0, 0, 0, 60))]

    def late(document: dict[str, Any]) -> bool:
        return sum(one.get("jitter", 0) >= 1_234_567 for one in document["callbacks"]) > 1

    shown = [document for document in documents if late(document)]
    assert len(shown) > 5
    for document in shown:
        small = shrink(document, late)
        assert late(small)
        assert len(small["callbacks"]) == 2
        assert not set(small) & {"chains", "scenarios", "switches", "overheads", "cpus"}
        for one in small["callbacks"]:
            assert one["jitter"] == 2 * MS  # rounded up to the roundest that shows it
            known = {"name", "node", "kind", "trigger", "period", "priority", "execution"}
            assert set(one) <= known | {"jitter", "reads", "writes"}
            assert (one["reads"], one["writes"]) == ([], [])


def test_what_matters_is_kept_with_all_that_it_names() -> None:
    def linked(document: dict[str, Any]) -> bool:
        (result,) = takt_core.simulate_many([json.dumps(document)], duration_ns=MS)
        return "error" not in result and bool(document.get("chains") and document.get("switches"))

    small = shrink(pipeline(), linked)
    assert [len(chain["callbacks"]) for chain in small["chains"]] == [2]
    assert len(small["callbacks"]) == 2
    assert small["switches"][0]["scenario"] in {one["name"] for one in small["scenarios"]}
    assert {topic["name"] for topic in small["topics"]} == {
        read["topic"] for one in small["callbacks"] for read in one["reads"]
    }


def test_the_same_violation_shrinks_to_the_same_application() -> None:
    def has_offset(document: dict[str, Any]) -> bool:
        return any("offset" in one for one in document["callbacks"])

    start = application(timer("a", offset=7 * MS), timer("b", offset=3), timer("c"))
    assert shrink(start, has_offset) == shrink(json.loads(json.dumps(start)), has_offset)


@pytest.fixture
def lying(monkeypatch: pytest.MonkeyPatch) -> None:
    """An analysis that promises half of what is so, and workers in this process."""
    truth = takt_core.analyse

    def analyse(*arguments: Any, **options: Any) -> dict[str, Any]:
        report = truth(*arguments, **options)
        for scenario in report["scenarios"]:
            for callback in scenario["callbacks"]:
                if callback["response_us"] is not None:
                    callback |= {"response_us": callback["response_us"] / 2, "exact": False}
        return report

    def here(client: Any, asked: Campaign, batches: list[Batch], keep: Any) -> None:
        for one in batches:
            keep(one, evaluate(asked.space, asked.seed, one, asked.do), None)

    monkeypatch.setattr(takt_core, "analyse", analyse)
    monkeypatch.setattr(cluster, "evaluate", here)


@pytest.mark.usefixtures("lying")
def test_a_violation_is_named_by_the_command_with_a_file_that_shows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "cluster", lambda *_: open("/dev/null"))  # noqa: PTH123, SIM115
    grid = tmp_path / "grid.json"
    given: dict[str, Any] = {"nodes": 5, "utilization": 0.6, "periods": [5, 10, 20]}
    grid.write_text(json.dumps({"parameters": given | {"policy": "edf", "jitter": [0.0, 0.5]}}))
    with pytest.raises(typer.Exit) as left:
        ask(grid, tmp_path / "c")
    assert left.value.exit_code == 1
    result = json.loads(capsys.readouterr().out)
    assert result["bound_violations"] > 20
    assert (result["policies"][0]["policy"], result["policies"][0]["sets"]) == ("edf", 20)
    assert result["policies"][0]["share"] == result["accepted"] / 20
    kept = result["violations"]
    assert {one["kind"] for one in kept} == {"response"}
    for one in kept:
        document = flat(read_application(Path(one["file"])))
        assert len(document["callbacks"]) == 1  # half of a response is too little for one
        assert one["command"].startswith(f"./takt simulate {one['file']}")
        assert one["text"] in Path(one["file"]).read_text()
    before = {one["file"]: Path(one["file"]).stat().st_mtime_ns for one in kept}
    with pytest.raises(typer.Exit):
        ask(grid, tmp_path / "c")
    assert {name: Path(name).stat().st_mtime_ns for name in before} == before


def ask(grid: Path, out: Path) -> None:
    options: dict[str, Any] = {"scheduler": None, "workers": 1, "overheads": None}
    texts = {"do": "analyse,simulate", "approaches": "takt", "duration": "1s"}
    campaign(grid, repeat=20, seed=1, out=out, executions=1, as_json=True, **texts, **options)


def test_the_file_of_a_shrunk_application_keeps_the_order_of_its_callbacks(tmp_path: Path) -> None:
    document = application(timer("b", writes=["x"]), timer("a", reads=[{"topic": "x"}]),
                           topics=[{"name": "x"}])  # fmt: skip
    path = tmp_path / "x.app.yaml"
    path.write_text(app_yaml(document, "two\nlines"))
    names = [one["name"] for one in flat(read_application(path))["callbacks"]]
    assert names == ["b.run", "a.run"]
    assert judge.first_scenario(document) == "default"
