# SPDX-License-Identifier: Apache-2.0
"""takt import: task sets of other tools are analysed with the verdicts that were published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from command_line import takt

from takt.schedule.analysis.ask import analyse
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.importing.formats import read
from takt.schedule.importing.imported import Given

MS = 1_000_000
US = 1000
HEADER = "Task ID, Job ID, Arrival min, Arrival max, Cost min, Cost max, Deadline, Priority\n"
Row = tuple[int, ...]


def jobs(*tasks: tuple[Row, int]) -> str:
    """A job set until 60; a task is (least and greatest cost, period), and its priority.

    Priority 0: the deadlines (EDF).
    """
    rows = []
    for number, ((best, worst, period), priority) in enumerate(tasks, 1):
        for job, release in enumerate(range(0, 60, period), 1):
            due = release + period
            row = (number, job, release, release, best, worst, due, priority or due)
            rows.append(", ".join(map(str, row)))
    return HEADER + "\n".join(rows) + "\n"


def imported(tmp_path: Path, text: str, name: str = "set.csv", *options: str) -> dict[str, Any]:
    """The flat form of the app.yaml that the command writes."""
    source, out = tmp_path / name, tmp_path / "out.app.yaml"
    source.write_text(text, encoding="utf-8")
    assert takt(["import", str(source), "-o", str(out), "--force", *options]) == 0
    return flat(read_application(out))


def meets(application: dict[str, Any], policy: str | None = None) -> bool:
    """Whether every deadline is proved, under its own policy or another one."""
    document = application | ({"policy": policy} if policy else {})
    return analyse(document, "here").scenarios[0].verdict == "meets"


# Nasri & Brandenburg 2017 (RTSS), figure 1: three tasks.
FIGURE_1 = ((1, 2, 10), (7, 8, 30), (3, 13, 60))
# Nasri & Fohler 2016 (ECRTS): figure 1 for Precautious-RM, figure 2 for Critical-Window EDF.
PRECAUTIOUS = ((1, 1, 10), (8, 8, 30), (17, 17, 60))


@pytest.mark.parametrize(
    ("costs", "priorities", "policy", "schedulable"),
    [
        (FIGURE_1, (0, 0, 0), "np-edf", False),
        (FIGURE_1, (0, 0, 0), "cw-edf", True),
        (FIGURE_1, (1, 3, 2), "np-fp", True),
        (PRECAUTIOUS, (1, 2, 3), "np-fp", False),
        (PRECAUTIOUS, (1, 2, 3), "p-rm", True),
    ],
)
def test_published_job_sets_have_their_published_verdicts(
    tmp_path: Path, costs: tuple[Row, ...], priorities: Row, policy: str, schedulable: bool
) -> None:
    application = imported(tmp_path, jobs(*zip(costs, priorities, strict=True)))
    assert application["policy"] == ("np-fp" if any(priorities) else "np-edf")
    assert meets(application, policy) is schedulable


def test_critical_windows_save_a_set_that_precautious_rm_does_not(tmp_path: Path) -> None:
    rows = [(1, 3, 10), (2, 6, 12), (3, 8, 60)]
    text = HEADER
    for task, cost, period in rows:
        for release in range(0, 60, period):
            due = release + period
            text += f"{task}, {release}, {release}, {release}, {cost}, {cost}, {due}, {due}\n"
    application = imported(tmp_path, text)
    verdicts = {one: meets(application, one) for one in ("np-edf", "p-rm", "cw-edf")}
    assert verdicts == {"np-edf": False, "p-rm": False, "cw-edf": True}


def test_jobs_become_tasks_with_period_offset_jitter_and_costs(tmp_path: Path) -> None:
    text = HEADER + "7, 1, 5, 8, 1, 2, 25, 1\n7, 2, 35, 38, 2, 4, 55, 1\n8, 1, 0, 0, 9, 9, 60, 2\n"
    first, second = imported(tmp_path, text, "set.csv", "--unit", "1ms")["callbacks"]
    assert first["name"] == "tasks.task_7"
    assert [first[key] // MS for key in ("period", "offset", "jitter", "deadline")] == [
        30,
        5,
        3,
        20,
    ]
    assert (first["execution"]["best"], first["execution"]["worst"]) == (1 * MS, 4 * MS)
    assert second["period"] == 60 * MS
    assert first["priority"] > second["priority"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("1, 1, 0, 0, 1, 1, 9, 1\n1, 2, 10, 10, 1, 1, 19, 1\n1, 3, 21, 21, 1, 1, 30, 1", ":4: the"),
        ("1, 1, 0, 0, 1, 1, 9, 1\n1, 2, 0, 0, 1, 1, 9, 1", "not periodic"),
        ("1, 1, 0, 0, 1, 1, 9, 1\n2, 1, 0, 0, 1, 1, 9, 2", "none has a period"),
        ("1, 1, 0, 0, 1, 1, 9, 5\n1, 2, 10, 10, 1, 1, 19, 1\n2, 1, 0, 0, 1, 1, 9, 2", "neither"),
        ("1, 1, 0, 0, 2, 1, 9, 1", "least before its greatest"),
        ("1, 1, 3, 2, 1, 1, 9, 1", "earliest before its latest"),
        ("1, 1, 0, 0, 1, 1, 9", "7 columns"),
        ("1, one, 0, 0, 1, 1, 9, 1", ":2: Job ID is no whole number: 'one'"),
        ("1, 1, 0, 0, 1, x, 9, 1", "cost max is no number"),
        ("1, 1, 0, 0, 1, 1e99, 9, 1", "hundred years"),
        ("1, 1, 0, 0, 1, 0.00001, 9, 1", "whole number of nanoseconds"),
        ("1, 1, 0, 0, 1, nan, 9, 1", "cost max is no number"),
        ("", "no job"),
    ],
)
def test_what_no_periodic_task_has_is_refused_with_its_place(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], rows: str, words: str
) -> None:
    source = tmp_path / "set.csv"
    source.write_text(HEADER + rows + "\n", encoding="utf-8")
    assert takt(["import", str(source), "-o", str(tmp_path / "x.app.yaml")]) == 2
    assert words in capfd.readouterr().err
    assert not (tmp_path / "x.app.yaml").exists()


def test_precedence_and_aborts_are_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for head in (
        "Predecessor TID, Predecessor JID, Successor TID, Successor JID",
        "TID, JID, Tmin",
    ):
        source = tmp_path / "set.csv"
        source.write_text(f"{head}\n1, 1, 1, 2\n", encoding="utf-8")
        assert takt(["import", str(source)]) == 2
        assert "precedence constraints or abort actions" in capfd.readouterr().err


XML = """<?xml version="1.0"?>
<taskset><properties count="2"/>
 <task id="1" period="10000" wcet="3000" partition="2"/>
 <task id="2" period="20000" wcet="5000" deadline="15000" partition="0"/>
</taskset>
"""


def test_sporadic_tasks_keep_period_cost_deadline_and_partition(tmp_path: Path) -> None:
    application = imported(tmp_path, XML, "set.xml")
    first, second = application["callbacks"]
    assert application["cpus"] == [0, 2]
    assert (first["period"], first["cpu"], "deadline" in first) == (10 * MS, 2, False)
    assert (second["deadline"], second["execution"]["worst"]) == (15 * MS, 5 * MS)
    assert meets(application)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (XML.replace("/>\n</taskset>", "><resources><requirement/></resources></task></taskset>"),
         "locks"),
        (XML.replace("/>\n</taskset>", '><affinity><cpu id="0"/><cpu id="1"/></affinity></task>'
         "</taskset>"), "one core"),
        (XML.replace('id="2"', 'id="1"'), "same id"),
        (XML.replace('period="10000"', 'period="0"'), "greater than 0"),
        (XML.replace('period="10000"', ""), "period of task 1 is no number"),
        (XML.replace("</taskset>", ""), "no XML"),
        ("<testpoint/>", "no task set"),
        ('<!DOCTYPE a [<!ENTITY b "b">]><taskset/>', "document type"),
        ("a,b\n", "unknown format"),
        ("", "unknown format"),
    ],
)  # fmt: skip
def test_task_sets_that_takt_cannot_describe_are_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    source = tmp_path / "set.xml"
    source.write_text(text, encoding="utf-8")
    assert takt(["import", str(source), "-o", str(tmp_path / "x.app.yaml")]) == 2
    assert words in capfd.readouterr().err


def chain_rows(*chains: tuple[float, int, int, list[float]]) -> str:
    """PiCAS's columns; a chain is (period in ms, core, executor, execution times in ms)."""
    rows, count = [], sum(len(costs) for *_, costs in chains)
    for number, (period, core, executor, costs) in enumerate(chains, 1):
        for place, cost in enumerate(costs, 1):
            row = (period if place == 1 else 0, cost, number, place, 9, core, executor,
                   count - len(rows))  # fmt: skip
            rows.append(" ".join(f"{one:8.2f}" for one in row))
    return "\n".join(rows) + "\n"


def test_chains_become_callbacks_of_executors_with_their_order(tmp_path: Path) -> None:
    application = imported(
        tmp_path, chain_rows((20, 1, 1, [1, 2]), (50.5, 2, 2, [3, 0, 4.25])), "set.txt"
    )
    assert application["cpus"] == [0, 1]
    assert [one["max_latency"] for one in application["chains"]] == [20 * MS, 50_500 * US]
    by_name = {one["name"]: one for one in application["callbacks"]}
    last = by_name["chain_2.callback_3"]
    assert last["trigger"] == by_name["chain_2.callback_2"]["writes"][0]
    assert (last["execution"]["worst"], last["group"], last["cpu"]) == (4_250 * US, "executor_2", 1)
    levels = {name: one["priority"] for name, one in by_name.items()}
    assert min(levels[one] for one in levels if "chain_1" in one) > max(
        levels[one] for one in levels if "chain_2" in one
    )
    found = analyse(application, "here").scenarios[0].chains
    assert [one.latency_us for one in found] == [3000, 7250.001]  # the empty one counts as 1 ns


def test_several_sets_are_files_of_a_new_folder(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "sets.txt", tmp_path / "out"
    source.write_text(chain_rows((20, 1, 1, [1, 2])) * 12, encoding="utf-8")
    assert takt(["import", str(source), "-o", str(out), "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    names = [Path(one["application"]).name for one in document["applications"]]
    assert names == sorted(one.name for one in out.iterdir())
    assert names[0] == "sets_01.app.yaml"
    assert document["applications"][0]["utilization"] == 0.15
    assert takt(["import", str(source), "-o", str(out)]) == 2
    assert "not empty" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("20 1 1 1 1 1 1 1\n0 1 1 3 1 1 1 2\n", ":2: a chain begins"),
        ("0 1 1 1 1 1 1 1\n", ":1: a chain begins"),
        ("20 1 1 1 1 0 1 1\n", "count from 1"),
        ("20 1 1 1 1 1 1 1\n20 1 1\n", "3 columns"),
        ("20 1e999 1 1 1 1 1 1\n", "hundred years"),
    ],
)
def test_rows_that_are_no_chains_are_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], rows: str, words: str
) -> None:
    source = tmp_path / "set.txt"
    source.write_text(rows, encoding="utf-8")
    assert takt(["import", str(source), "-o", str(tmp_path / "x.app.yaml")]) == 2
    assert words in capfd.readouterr().err


TOPOLOGY: dict[str, Any] = {
    "nodes": [
        {
            "node_name": "camera",
            "publishers": [
                {"topic_name": "image", "msg_type": "stamped10kb", "period_ms": 10},
                {"topic_name": "pose", "msg_type": "stamped9_float32", "freq_hz": 64},
            ],
        },
        {
            "node_name": "seer",
            "number": 2,
            "executor_id": 3,
            "subscribers": [
                {"topic_name": "image", "msg_type": "stamped10kb", "qos_depth": 2},
                {"topic_name": "missing", "msg_type": "stamped_vector"},
            ],
            "servers": [{"service_name": "x", "srv_type": "y"}],
        },
    ]
}


def test_a_topology_becomes_timers_subscriptions_and_executors(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    application = imported(tmp_path, json.dumps(TOPOLOGY), "robot.json", "--wcet", "100us")
    periods = {one["name"]: one.get("period") for one in application["callbacks"]}
    assert periods["camera.publish_image"] == 10 * MS
    assert periods["camera.publish_pose"] == 15_625 * US
    assert {"seer_1.on_image", "seer_2.on_image"} <= set(periods)
    topics = {one["name"]: one for one in application["topics"]}
    assert (topics["image"]["bytes"], topics["image"]["depth"]) == (10_000, 2)
    assert topics["pose"]["bytes"] == 36
    assert topics["missing"]["external"]
    groups = {one["group"] for one in application["callbacks"]}
    assert groups == {"executor_0", "executor_3"}
    assert "services: 1" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("document", "options", "words"),
    [
        (TOPOLOGY, (), "--wcet 100us"),
        (TOPOLOGY, ("--wcet", "0us"), "greater than 0"),
        (TOPOLOGY, ("--wcet", "5"), "duration"),
        ({"nodes": []}, ("--wcet", "1us"), "nodes"),
        ({"nodes": [{"node_name": "a"}]}, ("--wcet", "1us"), "no node"),
        ({"nodes": [{"node_name": "a", "publishers": [{"topic_name": "t", "msg_type": "m"}]}]},
         ("--wcet", "1us"), "has no period"),
    ],
)  # fmt: skip
def test_topologies_without_what_an_application_needs_are_refused(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    document: Any,
    options: tuple[str, ...],
    words: str,
) -> None:
    source = tmp_path / "robot.json"
    source.write_text(json.dumps(document), encoding="utf-8")
    assert takt(["import", str(source), "-o", str(tmp_path / "x.app.yaml"), *options]) == 2
    assert words in capfd.readouterr().err


def test_an_existing_file_stays_unless_forced(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "set.xml").write_text(XML, encoding="utf-8")
    kept = tmp_path / "kept.app.yaml"
    kept.write_text("mine", encoding="utf-8")
    assert takt(["import", str(tmp_path / "set.xml"), "-o", str(kept)]) == 2
    assert "--force" in capfd.readouterr().err
    assert kept.read_text(encoding="utf-8") == "mine"


def test_the_format_is_recognized_by_the_content(tmp_path: Path) -> None:
    for text, name in (
        (jobs(((1, 2, 10), 0)), "np-schedulability-analysis"),
        (XML, "SchedCAT"),
        (chain_rows((20, 1, 1, [1])), "PiCAS"),
        (json.dumps(TOPOLOGY), "ros2-performance"),
    ):
        (tmp_path / "any").write_text("\ufeff" + text, encoding="utf-8")
        assert read(tmp_path / "any", Given(wcet=1000))[0] == name
