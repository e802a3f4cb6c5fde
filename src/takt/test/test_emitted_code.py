# SPDX-License-Identifier: Apache-2.0
"""What takt generate --emit-code writes, read as text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.generate.code import write_packages

SCENARIOS = """
nodes:
  a: {t: {timer: 10ms, wcet: 1ms}}
  b: {m: {on: alarm, period: 10ms, wcet: 1ms}}
  c: {t: {timer: 10ms, wcet: 1ms}}
scenarios: {on: {a.t: {writes: {alarm: 1kB}}, c.t: {reads: {alarm: {max_age: 20ms}}}}}
"""


def emitted(path: Path, text: str) -> list[str]:
    """The sources of the three packages."""
    file = path / "x.app.yaml"
    file.write_text(text)
    packages = write_packages(flat(read_application(file)), path / "code")
    return [(package / "src" / "main.cpp").read_text(encoding="utf-8") for package in packages]


def test_what_a_scenario_adds_is_published_and_read_under_takt(tmp_path: Path) -> None:
    takt, *baselines = emitted(tmp_path, SCENARIOS)
    assert 'const auto a_t_alarm_topic =\n      a_node.create_publisher<Message>("alarm"' in takt
    assert "a_t_alarm_topic->publish(alarm_topic_message)" in takt
    assert ".writes = {a_t_alarm_topic}" in takt
    assert re.search(
        r"\.reads = \{\{c_t_from_alarm_topic, 0\w+\}\}", takt
    )  # the limit is the scenario's
    for baseline in baselines:  # they know none
        assert "publisher" not in baseline
        assert "c_t_from" not in baseline


def test_a_job_publishes_as_many_messages_as_declared(tmp_path: Path) -> None:
    writes = "{tf: {messages: [1, 8]}, log: {messages: 3}, plan: }"
    text = f"nodes: {{a: {{t: {{timer: 10ms, wcet: 1ms, writes: {writes}}}}}}}"
    for source in emitted(tmp_path, text):
        assert "for (int left = between(1, 8); left > 0; --left) {" in source
        assert "for (int left = 3; left > 0; --left) {" in source
        assert source.count("int left") == 2


def test_similar_names_are_distinguished(tmp_path: Path) -> None:
    text = """
nodes:
  a: {b_c: {timer: 10ms, wcet: 1ms, writes: [a/b, a_b]}, node: {timer: 10ms, wcet: 1ms}}
  a_b: {c: {timer: 10ms, wcet: 1ms, group: 'a "b" \\ c'}, c_times: {timer: 10ms, wcet: 1ms}}
  on: {signal: {timer: 10ms, wcet: 1ms, reads: [a/b, a_b]}}
  static: {cast: {timer: 10ms, wcet: 1ms}}
"""
    for source in emitted(tmp_path, text):
        declared = re.findall(
            r"^ *(?:const auto|constexpr std::array<[^>]*>|unsigned long|const takt::Node|"
            r"std::shared_ptr<const Message>|const takt::os::StopOnSignal|int)\s+(\w+)\s*[={({;]",
            source,
            re.MULTILINE,
        )
        by_main = [name for name in declared if not name.endswith("_message")]
        own = {"start", "end", "counted", "failed", "priority", "argc"}
        names = [name for name in by_main if name not in own]
        assert len(names) == len(set(names)), sorted(names)
        assert "static_cast" not in names
        assert names.count("on_signal") == 1
    takt = (tmp_path / "code" / "x" / "src" / "main.cpp").read_text(encoding="utf-8")
    assert r'.group = "a \"b\" \\ c"' in takt
    assert '"a_b.c"' in takt


@pytest.mark.parametrize(
    ("given", "cpus"), [("", "{0}"), ("cpus: [1]", "{1}"), ("cpus: [0, 2]", "{0, 2}")]
)
def test_all_three_packages_use_the_same_cores_as_takt_execute(
    tmp_path: Path, given: str, cpus: str
) -> None:
    text = f"{given}\nnodes: {{a: {{t: {{timer: 10ms, wcet: 1ms}}}}}}\n"
    takt, baseline0, baseline1 = emitted(tmp_path, text)
    assert f".cpus = {cpus}" in takt
    assert f"takt::os::apply({{.cpus = {cpus}}})" in baseline0
    assert f".priority = 40, .cpus = {cpus}}}" in baseline0
    assert f"RealTimeProcess real_time{{priority, {cpus}}}" in baseline1
