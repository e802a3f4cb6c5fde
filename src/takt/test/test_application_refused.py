# SPDX-License-Identifier: Apache-2.0
"""Faults of an app.yaml: each is named with its line and its fix."""

from __future__ import annotations

from pathlib import Path

import pytest
from application_text import callback, read

from takt.errors import TaktError
from takt.judge.limits import read_limits
from takt.schedule.analysis.ask import analyse
from takt.schedule.application.file import located, read_application
from takt.schedule.application.flat import flat


def fault(folder: Path, text: str) -> str:
    with pytest.raises(TaktError) as caught:
        read(folder, text)
    assert caught.value.exit_code == 2
    assert caught.value.fix
    return str(caught.value)


@pytest.mark.parametrize("timer", ["0Hz", "0s", "30", "-30Hz", "30 hertz"])
def test_what_is_neither_a_period_nor_a_rate_is_refused(tmp_path: Path, timer: str) -> None:
    with pytest.raises(TaktError, match="timer"):
        callback(tmp_path, f"timer: {timer}, wcet: 1ms")


def test_an_offset_that_is_neither_a_time_nor_unknown_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="offset"):
        callback(tmp_path, "timer: 9ms, wcet: 1ms, offset: any")


def test_a_scenario_does_not_make_an_offset_unknown(tmp_path: Path) -> None:
    text = "nodes: {n: {c: {timer: 9ms, wcet: 1ms}}}\nscenarios: {s: {n.c: {offset: unknown}}}"
    with pytest.raises(TaktError, match=r"does not make the offset of n\.c unknown"):
        read(tmp_path, text)


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


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("wcet: 1ms", "either timer (its period), on"),
        ("timer: 1ms, on: t, wcet: 1ms", "either timer (its period), on"),
        ("timer: 9ms", "give wcet, execution or segments"),
        ("timer: 9ms, period: 1ms, wcet: 1ms", "remove period"),
        ("timer: 0ms, wcet: 1ms", "period must be greater than 0"),
        ("timer: 9, wcet: 1ms", "9 is not a duration such as 10ms"),
        ("timer: 9ms, wcet: 1ms, priority: 99", "priority: 99 must be at most 98"),
        ("timer: 9ms, wcet: 1ms, priority: high", "priority: 'high' must be a whole number"),
        ("timer: 9ms, wcet: 1ms, group: 5", 'group: 5 must be text: write "5"'),
        ("timer: 9ms, wcet: 1ms, critical_sections: m", "must be a list, such as [m]"),
        ("timer: 9ms, wcet: 1ms, overrun: Skip", "did you mean skip?"),
        ("", "nodes.n.c: a callback has either timer"),
        ("timer: 9ms, wcet: 1ms, priorty: 9", "unknown key nodes.n.c.priorty; did you mean prior"),
        ("timer: 9ms, wcet: 1ms, overrun: never", "must be 'skip', 'queue_one' or 'catch_up'"),
        ("timer: 9ms, wcet: 1ms, reads: [t, t]", "duplicate name"),
        ("timer: 9ms, wcet: 1ms, reads: {t: {age: 1ms}}", "unknown key nodes.n.c.reads.t.age"),
        ("timer: 9ms, wcet: 1ms, reads: {t: 5}", "is not a mapping with the keys max_age"),
        ("timer: 9ms, wcet: 1ms, writes: {t: 512}", "512 is not a size"),
        ("timer: 9ms, wcet: 1ms, writes: [a b]", "'a b' is not allowed: a topic has letters"),
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
        ("timer: 9ms, execution: {samples: []}", "samples: [] must not be empty"),
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
        ("nodes: {}\n", "nodes: {} must not be empty"),
        ("nodes:\n  n:\n    c:\n", ":3: nodes.n.c is empty; it must be a mapping"),
        ("nodes:\n\tn: 5\n", ":2: not valid YAML: a tab\n  fix: indent with spaces"),
        (
            "nodes: {n: }\nnodes: {}\n",
            ":2: not valid YAML: the key nodes is there twice\n",
        ),
        ("nodes: {n: {c: {a: 1, b: 2}}}\n", "unknown key nodes.n.c.b\n  fix:"),
        ("policy: fp\nnodes: {n: {}}\n", ":2: no node has a callback"),
        ("nodes: {a b: {c: {timer: 1ms, wcet: 1ms}}}\n", ":1: nodes.a b: 'a b' is not allowed"),
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
    assert str(refused.value) == (
        f"{grid}:1: this is a file of parameters: takt generate and campaign read it\n"
        "  fix: give an application; see examples/docking.app.yaml"
    )
    app = tmp_path / "robot.app.yaml"
    app.write_text("nodes: {n: {c: {timer: 9ms, wcet: 1ms}}}\n")
    with pytest.raises(TaktError, match="this is an application file") as refused:
        read_limits(app)
    assert "give a limits file" in str(refused.value)
    app.write_text("nodes: {n: {c: {timer: 9ms, wcet: 1ms, prio: 3}}}\n")
    with pytest.raises(TaktError, match=r"see docs/reference/application-keys\.md"):
        read_application(app)


def test_a_trace_is_recognised(tmp_path: Path) -> None:
    trace = tmp_path / "robot.takttrace"
    trace.write_bytes(b"TAKTTRC1" + bytes([0x80]) * (2 << 20))
    with pytest.raises(TaktError, match="this is a trace: takt trace, metrics") as refused:
        read_application(trace)
    assert "takt model writes one" in str(refused.value)


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


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("supply: {budget: 11ms, period: 10ms}", "budget 11ms is above its period, 10ms"),
        ("supply: {budget: 0ms, period: 10ms}", "must be greater than 0"),
        ("supply: {budget: 1ms}", "a budget needs its period"),
        ("supply: {delay: 1ms}", "a delay needs a rate"),
        ("supply: {}", "either budget and period"),
        ("supply: {budget: 1ms, period: 10ms, rate: 0.5}", "either budget and period"),
        ("supply: {rate: 1.1}", "must be at most 1"),
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


@pytest.mark.parametrize("executor", ["takt", "rclcpp_multi_threaded"])
def test_a_core_that_is_named_twice_is_an_error(tmp_path: Path, executor: str) -> None:
    path = tmp_path / "x.app.yaml"
    path.write_text(
        f"executor: {executor}\ncpus: [1, 1]\n"
        "nodes: {n: {c: {timer: 20ms, wcet: 1ms, priority: 1}}}\n"
    )
    application = read_application(path)
    with pytest.raises(TaktError, match="core 1 is named twice") as caught, located(application):
        analyse(flat(application), str(path))
    assert caught.value.where == f"{path}:2"


def test_a_core_that_the_application_does_not_use_is_an_error(tmp_path: Path) -> None:
    said = fault(tmp_path, "nodes: {n: {c: {timer: 20ms, wcet: 1ms}}}\ncores: {3: {latency: 1us}}")
    assert "core 3 is described, but the application uses 0" in said
    assert "x.app.yaml:2" in said
