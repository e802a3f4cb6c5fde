# SPDX-License-Identifier: Apache-2.0
"""The app.yaml: what it means to the core, and how each fault is named with its line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from takt.errors import TaktError
from takt.judge.limits import read_limits
from takt.schedule.analysis.ask import analyse
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.executors import POLICIES
from takt.schedule.application.file import located, read_application
from takt.schedule.application.flat import flat
from takt.schedule.generate import scenarios as generated

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = sorted((ROOT / "examples").glob("*.app.yaml"))


def read(folder: Path, text: str) -> dict[str, Any]:
    path = folder / "x.app.yaml"
    path.write_text(text, encoding="utf-8")
    return flat(read_application(path))


def callback(folder: Path, keys: str) -> dict[str, Any]:
    (only,) = read(folder, f"nodes: {{n: {{c: {{{keys}}}}}}}")["callbacks"]
    assert isinstance(only, dict)
    return only


def fault(folder: Path, text: str) -> str:
    with pytest.raises(TaktError) as caught:
        read(folder, text)
    assert caught.value.exit_code == 2
    assert caught.value.fix
    return str(caught.value)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_published_application_is_valid(path: Path) -> None:
    application = read_application(path)
    document = flat(application)
    assert document["name"] == path.name.removesuffix(".app.yaml")
    assert json.loads(json.dumps(document)) == document
    assert [one["name"] for one in document["callbacks"]] == list(application.callbacks)


def test_the_published_application_means_what_it_says() -> None:
    document = flat(read_application(ROOT / "examples" / "docking.app.yaml"))
    scan, brake = document["callbacks"]
    assert (document["policy"], document["cpus"]) == ("edf", [1])
    assert (scan["name"], scan["node"], scan["kind"]) == ("radar.scan", "radar", "timer")
    assert (scan["period"], scan["deadline"], scan["priority"]) == (10_000_000, 5_000_000, 40)
    assert scan["execution"] == {"best": 1500000, "worst": 1500000, "quantiles": [1500000]}
    assert scan["writes"] == ["scan"]
    assert brake["reads"] == [{"topic": "scan", "max_age": 15_000_000}]
    assert document["topics"] == [{"name": "scan", "bytes": 512_000}]
    docking = document["scenarios"][1]
    assert docking["name"] == "docking"
    assert docking["tasks"] == [
        {"task": "guard.brake", "period": 5_000_000, "priority": 90, "reads": [], "writes": []}
    ]


def test_a_subscription_is_released_by_its_topic(tmp_path: Path) -> None:
    found = callback(tmp_path, "on: scan, wcet: 1ms, period: 5ms")
    assert (found["kind"], found["trigger"], found["period"]) == ("message", "scan", 5_000_000)


def test_a_period_may_be_given_as_a_rate(tmp_path: Path) -> None:
    assert callback(tmp_path, "timer: 30Hz, wcet: 1ms")["period"] == 33_333_333
    assert callback(tmp_path, "timer: 29.97 Hz, wcet: 1ms")["period"] == 33_366_700
    assert callback(tmp_path, "on: scan, wcet: 1ms, period: 200Hz")["period"] == 5_000_000
    text = "nodes: {n: {c: {on: /t, wcet: 1ms}}}\ntopics: {/t: {external_period: 1kHz}}"
    assert read(tmp_path, text)["topics"][0]["external_period"] == 1_000_000


@pytest.mark.parametrize("timer", ["0Hz", "0s", "30", "-30Hz", "30 hertz"])
def test_what_is_neither_a_period_nor_a_rate_is_refused(tmp_path: Path, timer: str) -> None:
    with pytest.raises(TaktError, match="timer"):
        callback(tmp_path, f"timer: {timer}, wcet: 1ms")


def test_a_job_may_publish_several_messages(tmp_path: Path) -> None:
    writes = "{tf: {size: 2KB, messages: 8}, scan: 1KB, plan: {messages: 1}, log: }"
    found = callback(tmp_path, f"timer: 9ms, wcet: 1ms, writes: {writes}")
    assert found["writes"] == ["tf", "scan", "plan", "log"]
    assert found["messages"] == {"tf": 8}
    assert "messages" not in callback(tmp_path, "timer: 9ms, wcet: 1ms, writes: [tf]")


def test_the_number_of_messages_is_written_as_it_is_read(tmp_path: Path) -> None:
    writes = "{tf: {size: 2KB, messages: 8}, log: }"
    text = (
        f"nodes:\n  n:\n    c: {{timer: 9ms, wcet: 1ms, writes: {writes}}}\n"
        "    d: {timer: 9ms, wcet: 1ms, writes: {log: {messages: 3}}}\n"
    )
    document = read(tmp_path, text)
    again = read(tmp_path, app_yaml(document, "written"))
    assert again["callbacks"] == document["callbacks"]
    assert [one["messages"] for one in again["callbacks"]] == [{"tf": 8}, {"log": 3}]


def test_messages_from_outside_may_come_in_bursts(tmp_path: Path) -> None:
    text = (
        "nodes: {n: {c: {on: in, wcet: 1ms}}}\n"
        "topics: {in: {depth: 4, external_period: 9ms, external_burst: 4}}"
    )
    document = read(tmp_path, text)
    assert document["topics"][0]["external_burst"] == 4
    assert read(tmp_path, app_yaml(document, "written"))["topics"] == document["topics"]


def test_an_offset_may_be_unknown(tmp_path: Path) -> None:
    document = read(tmp_path, "nodes:\n  n:\n    c: {timer: 9ms, wcet: 1ms, offset: unknown}\n")
    assert document["callbacks"][0]["offset"] == "unknown"
    again = read(tmp_path, app_yaml(document, "written"))
    assert again["callbacks"] == document["callbacks"]


def test_an_offset_that_is_neither_a_time_nor_unknown_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="offset"):
        callback(tmp_path, "timer: 9ms, wcet: 1ms, offset: any")


def test_a_scenario_does_not_make_an_offset_unknown(tmp_path: Path) -> None:
    text = "nodes: {n: {c: {timer: 9ms, wcet: 1ms}}}\nscenarios: {s: {n.c: {offset: unknown}}}"
    with pytest.raises(TaktError, match=r"does not make the offset of n\.c unknown"):
        read(tmp_path, text)


def test_the_number_of_messages_may_be_a_range(tmp_path: Path) -> None:
    writes = (
        "{tf: {size: 2KB, messages: [1, 8]}, log: {messages: [3, 3]}, plan: {messages: [1, 1]}}"
    )
    document = read(tmp_path, f"nodes:\n  n:\n    c: {{timer: 9ms, wcet: 1ms, writes: {writes}}}\n")
    assert document["callbacks"][0]["messages"] == {"tf": [1, 8], "log": 3}
    again = read(tmp_path, app_yaml(document, "written"))
    assert again["callbacks"] == document["callbacks"]


def test_a_range_of_messages_begins_with_the_least(tmp_path: Path) -> None:
    with pytest.raises(
        TaktError,
        match=r"must be a number from 1 to 1000, or the least and the most, such as \[1, 8\]",
    ):
        callback(tmp_path, "timer: 9ms, wcet: 1ms, writes: {tf: {messages: [8, 1]}}")


@pytest.mark.parametrize(
    "messages", ["0", "1001", "2.5", "many", "-1", "[0, 2]", "[1]", "[1, 1001]"]
)
def test_what_is_no_number_of_messages_is_refused(tmp_path: Path, messages: str) -> None:
    with pytest.raises(TaktError, match="messages"):
        callback(tmp_path, f"timer: 9ms, wcet: 1ms, writes: {{tf: {{messages: {messages}}}}}")


def test_a_scenario_does_not_change_the_number_of_messages(tmp_path: Path) -> None:
    text = (
        "nodes: {n: {c: {timer: 9ms, wcet: 1ms, writes: [tf]}}}\n"
        "scenarios: {s: {n.c: {writes: {tf: {messages: 2}}}}}"
    )
    with pytest.raises(TaktError, match=r"does not change how many messages n\.c publishes"):
        read(tmp_path, text)


def test_a_callback_may_wait(tmp_path: Path) -> None:
    assert callback(tmp_path, "timer: 9ms, wcet: 1ms, suspension: 5ms")["suspension"] == 5_000_000
    assert "suspension" not in callback(tmp_path, "timer: 9ms, wcet: 1ms")


def test_an_external_topic_says_how_often_it_comes(tmp_path: Path) -> None:
    text = (
        "nodes: {n: {c: {on: /t, wcet: 1ms}}}\n"
        "topics: {/t: {size: 2KiB, external_period: 5ms, depth: 3, reliability: best_effort}}"
    )
    assert read(tmp_path, text)["topics"] == [
        {"name": "/t", "bytes": 2048, "depth": 3, "reliable": False, "external": True}
        | {"external_period": 5_000_000}
    ]


def test_a_range_is_uniform(tmp_path: Path) -> None:
    found = callback(tmp_path, "timer: 9ms, execution: {best: 1ms, worst: 3ms}")
    assert found["execution"]["quantiles"] == [1_000_000, 3_000_000]


def test_a_normal_distribution_is_cut_off_and_keeps_its_shape(tmp_path: Path) -> None:
    from scipy.stats import truncnorm

    keys = "timer: 9ms, execution: {best: 1ms, mean: 2ms, deviation: 1ms, worst: 6ms}"
    quantiles = callback(tmp_path, keys)["execution"]["quantiles"]
    assert quantiles == sorted(quantiles)
    assert (quantiles[0], quantiles[-1]) == (1_000_000, 6_000_000)
    exact = truncnorm(-1, 4, loc=2e6, scale=1e6)
    for share in (0.1, 0.25, 0.5, 0.9, 0.999):
        assert quantiles[round(share * 1000)] == pytest.approx(exact.ppf(share), abs=1)


def test_samples_are_read_from_a_file_beside_the_application(tmp_path: Path) -> None:
    (tmp_path / "seen.txt").write_text("# seen\n3ms\n1ms  # the least\n\n2ms\n", encoding="utf-8")
    found = callback(tmp_path, "timer: 9ms, execution: {samples: seen.txt}")
    assert found["execution"] == {
        "best": 1_000_000, "worst": 3_000_000, "quantiles": [1_000_000, 2_000_000, 3_000_000],
    }  # fmt: skip


def test_many_samples_are_thinned_without_losing_the_extremes(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("".join(f"{n}us\n" for n in range(1, 50_001)), encoding="utf-8")
    quantiles = callback(tmp_path, "timer: 1s, execution: {samples: s}")["execution"]["quantiles"]
    assert (len(quantiles), quantiles[0], quantiles[-1]) == (1001, 1_000, 50_000_000)
    assert quantiles[500] == pytest.approx(25_000_000, rel=0.001)


def test_a_declared_worst_case_stands_above_what_was_observed(tmp_path: Path) -> None:
    found = callback(tmp_path, "timer: 9ms, wcet: 5ms, execution: {best: 1ms, worst: 3ms}")
    assert found["execution"] == {
        "best": 1_000_000, "worst": 5_000_000, "quantiles": [1_000_000, 3_000_000],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("wcet: 1ms", "either timer (its period), on"),
        ("timer: 1ms, on: t, wcet: 1ms", "either timer (its period), on"),
        ("timer: 9ms", "give wcet, execution or segments"),
        ("timer: 9ms, period: 1ms, wcet: 1ms", "remove period"),
        ("timer: 0ms, wcet: 1ms", "period must be greater than 0"),
        ("timer: 9, wcet: 1ms", "9 is not a duration such as 10ms"),
        ("timer: 9ms, wcet: 1ms, priority: 99", "less than or equal to 98"),
        ("timer: 9ms, wcet: 1ms, priorty: 9", "unknown key nodes.n.c.priorty; did you mean prior"),
        ("timer: 9ms, wcet: 1ms, overrun: never", "should be 'skip', 'queue_one' or 'catch_up'"),
        ("timer: 9ms, wcet: 1ms, reads: [t, t]", "duplicate name"),
        ("timer: 9ms, wcet: 1ms, reads: {t: {age: 1ms}}", "unknown key nodes.n.c.reads.t.age"),
        ("timer: 9ms, wcet: 1ms, reads: {t: 5}", "is not a mapping with the keys max_age"),
        ("timer: 9ms, wcet: 1ms, writes: {t: 512}", "512 is not a size"),
        ("timer: 9ms, wcet: 1ms, writes: [a b]", "should match pattern"),
        ("timer: 9ms, execution: {}", "key worst is missing"),
        ("timer: 9ms, execution: {best: 2ms, worst: 1ms}", "best 2ms is above worst 1ms"),
        ("timer: 9ms, execution: {worst: 3ms, mean: 1ms}", "mean and deviation go together"),
        ("timer: 9ms, execution: {samples: none.txt}", "none.txt: No such file"),
        (
            "timer: 9ms, execution: {samples: [1ms, 5ms], worst: 2ms}",
            "below the longest sample, 5ms",
        ),
        (
            "timer: 9ms, execution: {samples: [1ms, 5ms], best: 2ms}",
            "above the shortest sample, 1ms",
        ),
        ("timer: 9ms, wcet: 1ms, deadline: 0ms", "deadline: must be greater than 0"),
        (
            "timer: 9ms, wcet: 1ms, execution: {best: 1ms, worst: 3ms}",
            "below the worst case of execution",
        ),
        ("timer: 9000000h, wcet: 1ms", "longer than a hundred years"),
        ("timer: 9ms, execution: {samples: []}", "at least 1 item"),
        ("timer: 9ms, execution: {wrost: 1ms}", "did you mean worst?"),
    ],
)
def test_a_fault_of_a_callback_is_named_with_its_line(
    tmp_path: Path, keys: str, expected: str
) -> None:
    text = fault(tmp_path, f"nodes:\n  n:\n    c: {{{keys}}}\n")
    assert "x.app.yaml:3: " in text
    assert expected in text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("scenarios: {s: {n.c: {prio: 5}}}", "2: unknown key scenarios.s.n.c.prio"),
        ("scenarios: {s: {n.d: {priority: 5}}}", "2: scenario s changes unknown callback n.d"),
        ("scenarios: {s: {n.c: {group: g}}}", "2: unknown key scenarios.s.n.c.group"),
        ("scenarios: {s: {n.c: {suspension: 1ms}}}", "2: unknown key scenarios.s.n.c.suspension"),
        ("topics: {t: {size: 4KB}}", "1: topic t has message size 5KB here and 4KB at"),
        ("topics: {t: {depth: 0}}", "2: topics.t.depth"),
        ("cpus: []", "2: cpus"),
        ("switches: [{at: 5}]", "2: switches[0].at: 5 is not a duration"),
        ("switches: [{at: 5s, scenario: z}]", "2: unknown scenario z"),
        ("default_scenario: z", "2: unknown scenario z"),
        ("scenarios: {y: {}}\ndefault_scenario: z", "3: unknown scenario z"),
        ("chains: {c: {callbacks: n.c}}", "2: chains.c.callbacks"),
        ("chains: {c: {callbacks: [n.c, n.d]}}", "2: chain c contains unknown callback n.d"),
        ("overheads: {dispach: 3us}", "did you mean dispatch?"),
        ("polcy: fp", "did you mean policy?"),
    ],
)
def test_a_fault_elsewhere_is_named_with_its_line(tmp_path: Path, line: str, expected: str) -> None:
    text = fault(
        tmp_path, f"nodes: {{n: {{c: {{timer: 9ms, wcet: 1ms, writes: {{t: 5KB}}}}}}}}\n{line}\n"
    )
    assert expected in text
    assert "x.app.yaml:" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "an application must be a mapping with nodes"),
        ("policy: fp\n", "key nodes is missing"),
        ("nodes: {}\n", "nodes"),
        ("policy: fp\nnodes: {n: {}}\n", ":2: no node has a callback"),
        ("nodes: {a b: {c: {timer: 1ms, wcet: 1ms}}}\n", ":1: nodes.a b: 'a b': string should ma"),
        ("nodes: [\n", "not valid YAML"),
    ],
)
def test_a_broken_file_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(TaktError, match=r"x\.app\.yaml") as caught:
        read(tmp_path, text)
    assert expected in str(caught.value)


def test_a_file_of_another_kind_is_recognised(tmp_path: Path) -> None:
    grid = tmp_path / "grid.json"
    grid.write_text('{"parameters": {"nodes": 5}}')
    with pytest.raises(TaktError) as refused:
        read_application(grid)
    assert "this is a file of parameters: takt generate" in str(refused.value)
    app = tmp_path / "robot.app.yaml"
    app.write_text("nodes: {n: {c: {timer: 9ms, wcet: 1ms}}}\n")
    with pytest.raises(TaktError, match="this is an application file") as refused:
        read_limits(app)
    assert "give a limits file" in str(refused.value)
    app.write_text("nodes: {n: {c: {timer: 9ms, wcet: 1ms, prio: 3}}}\n")
    with pytest.raises(TaktError, match=r"see docs/reference/application-keys\.md"):
        read_application(app)


def test_overheads_are_handed_on_in_ns_and_counted(tmp_path: Path) -> None:
    text = "nodes: {n: {c: {timer: 9ms, wcet: 1ms, priority: 9}}}\noverheads: {dispatch: 5us}\n"
    flat = read(tmp_path, text)
    assert flat["overheads"] == {"dispatch": 5000}
    assert analyse(flat, "x").scenarios[0].callbacks[0].wcet_us == 1005


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="no such application file"):
        read_application(tmp_path / "none.app.yaml")


@pytest.mark.parametrize(
    ("policy", "keys", "line", "expected"),
    [
        (
            "edf",
            "timer: 10ms, wcet: 1ms, reads: [x]",
            5,
            "it reads topic 'x', which no task writes",
        ),
        ("edf", "timer: 10ms, wcet: 1ms, suspension: 1ms", 5, "for which policy 'edf' has no rule"),
        ("rm", "timer: 10ms, wcet: 1ms, suspension: 1ms, group: g", 5, "keep the exclusive group"),
        ("efd", "timer: 10ms, wcet: 1ms, group: ''", 1, "policy 'efd': there is no such policy"),
    ],
)
def test_what_the_core_refuses_is_reported_with_its_line(
    tmp_path: Path, policy: str, keys: str, line: int, expected: str
) -> None:
    path = tmp_path / "x.app.yaml"
    path.write_text(
        f"policy: {policy}\nnodes:\n  n:\n    c: {{timer: 9ms, wcet: 1ms}}\n    d: {{{keys}}}\n"
    )
    application = read_application(path)
    with pytest.raises(TaktError) as caught, located(application):
        analyse(flat(application), str(path))
    assert caught.value.where == f"{path}:{line}"
    assert expected in caught.value.what


def test_the_tool_names_each_policy_of_the_core(tmp_path: Path) -> None:
    document = read(tmp_path, "policy: none\nnodes: {n: {c: {timer: 9ms, wcet: 1ms}}}")
    with pytest.raises(TaktError) as caught:
        analyse(document, "x")
    assert re.findall("'([^']+)'", caught.value.fix) == list(POLICIES)
    assert {*generated.POLICIES} == {*POLICIES}


CORES = """
cpus: [0, 1, 2]
cores:
  1:
    supply: {budget: 8ms, period: 10ms}
    latency: 50us
    interrupts: [{period: 1ms, duration: 20us, burst: 4}]
  2: {supply: {rate: 0.9, delay: 2ms}}
nodes: {n: {c: {timer: 20ms, wcet: 1ms, cpu: 1, priority: 1}}}
"""


def test_cores_have_a_supply_a_latency_and_interrupts(tmp_path: Path) -> None:
    document = read(tmp_path, CORES)
    assert document["cores"] == [
        {
            "cpu": 1,
            "supply": {"budget": 8_000_000, "period": 10_000_000},
            "latency": 50_000,
            "interrupts": [{"period": 1_000_000, "duration": 20_000, "burst": 4}],
        },
        {"cpu": 2, "supply": {"rate": 900_000_000, "delay": 2_000_000}},
    ]
    assert read(tmp_path, app_yaml(document, "again")) == document


def test_an_application_without_cores_has_none(tmp_path: Path) -> None:
    assert "cores" not in read(tmp_path, "nodes: {n: {c: {timer: 20ms, wcet: 1ms}}}")


def test_a_bound_names_the_supply_and_the_verdict_what_it_assumes(tmp_path: Path) -> None:
    path = tmp_path / "x.app.yaml"
    path.write_text(CORES, encoding="utf-8")
    report = analyse(flat(read_application(path)), str(path))
    (callback,) = report.scenarios[0].callbacks
    # 4 ms without supply, 1 ms and its latency, and interrupts: 4 at once, and 5 more until then.
    assert callback.response_us == pytest.approx(4000 + 1050 + 9 * 20)
    assert "Shin & Lee 2003" in callback.bound_by
    assert "assuming the declared supply, latency, interrupts of core 1" in report.remarks


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("supply: {budget: 11ms, period: 10ms}", "budget 11ms is above its period, 10ms"),
        ("supply: {budget: 0ms, period: 10ms}", "must be greater than 0"),
        ("supply: {budget: 1ms}", "a budget needs its period"),
        ("supply: {delay: 1ms}", "a delay needs a rate"),
        ("supply: {}", "either budget and period"),
        ("supply: {budget: 1ms, period: 10ms, rate: 0.5}", "either budget and period"),
        ("supply: {rate: 1.1}", "less than or equal to 1"),
        ("supply: {rate: 0}", "greater than"),
        ("latency: 2h", "at most 1h"),
        ("interrupts: [{period: 1ms}]", "key cores[0].interrupts[0].duration is missing"),
        ("interrupts: [{period: 0s, duration: 1us}]", "must be greater than 0"),
        ("intterupts: []", "did you mean interrupts?"),
    ],
)
def test_a_wrong_core_is_named_with_its_line(tmp_path: Path, keys: str, words: str) -> None:
    text = f"nodes: {{n: {{c: {{timer: 20ms, wcet: 1ms}}}}}}\ncores:\n  0:\n    {keys}\n"
    said = fault(tmp_path, text)
    assert words in said
    assert "x.app.yaml:4" in said or "x.app.yaml:3" in said


def test_a_core_that_the_application_does_not_use_is_an_error(tmp_path: Path) -> None:
    said = fault(tmp_path, "nodes: {n: {c: {timer: 20ms, wcet: 1ms}}}\ncores: {3: {latency: 1us}}")
    assert "core 3 is described, but the application uses 0" in said
    assert "x.app.yaml:2" in said
