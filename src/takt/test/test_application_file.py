# SPDX-License-Identifier: Apache-2.0
"""What an app.yaml means to the core."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from application_text import callback, read

from takt.errors import TaktError
from takt.schedule.analysis.ask import analyse
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.executors import POLICIES
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.generate import scenarios as generated

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = sorted((ROOT / "examples").glob("*.app.yaml"))


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


def test_the_number_of_messages_may_be_a_range(tmp_path: Path) -> None:
    writes = (
        "{tf: {size: 2KB, messages: [1, 8]}, log: {messages: [3, 3]}, plan: {messages: [1, 1]}}"
    )
    document = read(tmp_path, f"nodes:\n  n:\n    c: {{timer: 9ms, wcet: 1ms, writes: {writes}}}\n")
    assert document["callbacks"][0]["messages"] == {"tf": [1, 8], "log": 3}
    again = read(tmp_path, app_yaml(document, "written"))
    assert again["callbacks"] == document["callbacks"]


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


def test_overheads_are_handed_on_in_ns_and_counted(tmp_path: Path) -> None:
    text = "nodes: {n: {c: {timer: 9ms, wcet: 1ms, priority: 9}}}\noverheads: {dispatch: 5us}\n"
    flat = read(tmp_path, text)
    assert flat["overheads"] == {"dispatch": 5000}
    assert analyse(flat, "x").scenarios[0].callbacks[0].wcet_us == 1005


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
