# SPDX-License-Identifier: Apache-2.0
"""takt simulate: from an app.yaml to a table, a document and a trace that takt trace reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from takt.cli.main import main

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

APP = """
policy: {policy}
nodes:
  a:
    fast: {{timer: 5ms, execution: {{best: 1ms, worst: 2ms}}, priority: 20, writes: {{data: 4KiB}}}}
    slow: {{timer: 7ms, wcet: 4ms, priority: 10, reads: [data]}}
chains:
  through: {{callbacks: [a.fast, a.slow], max_latency: 20ms}}
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "two.app.yaml"
    path.write_text(APP.format(policy="fp"), encoding="utf-8")
    return path


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as exit_:
        main(["simulate", *map(str, arguments)])
    code = exit_.value.code
    return code if isinstance(code, int) else 0


def test_missed_deadlines_are_the_exit_code(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app) == 1
    shown = capsys.readouterr().out
    assert "a.slow" in shown
    assert "deadlines missed" in shown
    assert "two hyperperiods" in shown
    app.write_text(APP.format(policy="edf"), encoding="utf-8")
    assert run(app) == 0
    assert "no deadline missed" in capsys.readouterr().out


def test_without_a_terminal_progress_leaves_no_empty_line(
    app: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(app)
    assert capsys.readouterr().err == ""
    assert run(app, "--duration", "1 parsec") == 2
    assert capsys.readouterr().err.startswith("takt: ")
    app.write_text("nodes: {a: {b: {timer: 1ms, wcet: 9us, priority: 0}}}", encoding="utf-8")
    assert run(app) == 2
    assert capsys.readouterr().err.startswith("takt: ")


def test_metrics_in_a_narrow_terminal_lose_no_column(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "long.app.yaml"
    path.write_text(
        "nodes:\n"
        "  localisation:\n"
        "    estimate: {timer: 100s, wcet: 12345678us, priority: 9, writes: {x: 1B}}\n"
        "  planner: {plan: {timer: 100s, wcet: 22345678us, priority: 1, reads: [x]}}\n"
        "chains: {all_the_way_through: {callbacks: [localisation.estimate, planner.plan]}}\n"
    )
    trace = tmp_path / "t"
    assert run(path, "--trace", trace, "--duration", "200s") == 0
    capsys.readouterr()
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as ended:
        main(["metrics", str(trace)])
    shown = capsys.readouterr().out
    assert not ended.value.code
    assert "localisation.estimate" in shown
    assert "all_the_way_through, reaction" in shown
    assert shown.count("34\u202f691.356") == 3  # median, p99 and max of the response
    assert "22\u202f345.678" in shown  # CPU time, the last column


def test_no_data_at_the_start_is_not_reported_as_old_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "first.app.yaml"
    path.write_text(
        "nodes:\n"
        "  a: {slow: {timer: 20ms, wcet: 1ms, priority: 1, writes: {data: 1kB}}}\n"
        "  b: {fast: {timer: 10ms, wcet: 1ms, priority: 9, reads: {data: {max_age: 50ms}}}}\n"
    )
    assert run(path) == 0
    shown = capsys.readouterr().out
    assert "no data" in shown
    assert "too old" not in shown


@pytest.mark.parametrize(
    ("limits", "broken"),
    [
        ({"latency": "30ms", "age": "60ms"}, None),  # no data yet at the start is not an age
        ({"latency": "5ms", "age": "60ms"}, "chains above their latency limit"),
        ({"latency": "30ms", "age": "5ms"}, "starts on data above its age limit"),
    ],
)
def test_ages_and_latencies_above_their_limits_are_the_exit_code_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], limits: dict[str, str], broken: str | None
) -> None:
    path = tmp_path / "old.app.yaml"
    path.write_text(
        """
policy: fp
nodes:
  w: {{run: {{timer: 50ms, wcet: 1ms, priority: 90, offset: 1ms, writes: [data]}}}}
  r: {{run: {{timer: 10ms, wcet: 1ms, priority: 50, reads: [data]}}}}
  g:
    run: {{timer: 10ms, wcet: 1ms, offset: 1ms, priority: 95, reads: {{gps: {{max_age: {age}}}}}}}
topics: {{gps: {{external_period: 50ms}}}}
chains:
  through: {{callbacks: [w.run, r.run], max_latency: {latency}}}
""".format(**limits),
        encoding="utf-8",
    )
    assert run(path) == (0 if broken is None else 1)
    first = capsys.readouterr().out.splitlines()[0]
    assert "no deadline missed" in first
    assert (broken or "missed") in first


def test_the_document_and_the_trace_agree(
    app: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "two.takttrace"
    run(app, "--duration", "1s", "--execution", "drawn", "--seed", "7", "--trace", trace, "--json")
    document = json.loads(capsys.readouterr().out)
    assert document["schema_version"] == 1
    assert (document["duration_from"], document["duration_ms"]) == ("given", 1000)
    assert (document["seed"], document["execution"]) == (7, "drawn")
    assert document["hyperperiod_ms"] == 35
    with pytest.raises(SystemExit):
        main(["trace", str(trace), "--json"])
    summary = json.loads(capsys.readouterr().out)
    assert summary["source"] == "simulator"
    assert summary["closed_in_order"]
    for task, callback in zip(summary["tasks"], document["callbacks"], strict=True):
        assert task["task"] == callback["callback"]
        for key in ("releases", "skipped", "jobs", "misses", "preemptions", "unfinished"):
            assert task[key] == callback[key], key
        assert task["response_max_us"] == callback["response"]["max_us"]
    assert document["chains"][0]["latency"]["count"] > 0


def test_one_seed_gives_one_result(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for seed in (1, 1, 2):
        run(app, "--execution", "drawn", "--seed", seed, "--duration", "1s", "--json")
        texts.append(json.loads(capsys.readouterr().out) | {"seed": 0})
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_overheads_come_from_a_file(
    app: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "overheads.json"
    zero = dict.fromkeys(
        ["dispatch", "preemption", "release", "publish", "publish_per_kib", "deliver"], 0
    ) | {"deliver_per_kib": 0}
    document = {
        "schema_version": 1,
        "rounds": 1,
        "overheads": zero,
        "upper": zero | {"dispatch": 10_000, "publish_per_kib": 1000},
    }
    file.write_text(json.dumps(document), encoding="utf-8")
    run(app, "--duration", "hyperperiod", "--overheads", file, "--json")
    result = json.loads(capsys.readouterr().out)
    assert (result["duration_from"], result["duration_ms"]) == ("hyperperiod", 35)
    assert result["overheads"]
    assert result["callbacks"][0]["worst_response_ns"] == 2_000_000 + 10_000 + 4 * 1_000
    file.write_text(json.dumps(document | {"upper": zero | {"dispatching": 1}}), encoding="utf-8")
    assert run(app, "--overheads", file) == 2
    assert "dispatching" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "arguments", "words"),
    [
        (("", ""), ("--duration", "soon"), "--duration"),
        (("", ""), ("--duration", "0s"), "--duration"),
        (("", ""), ("--trace", "/nowhere/at/all"), "/nowhere/at/all"),
        (("a.slow]", "a.fast]"), (), "reads nothing"),
    ],
)
def test_faults_are_reported_with_their_place(
    app: Path,
    capsys: pytest.CaptureFixture[str],
    change: tuple[str, str],
    arguments: tuple[str, ...],
    words: str,
) -> None:
    app.write_text(app.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    assert run(app, *arguments) in (1, 2)
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error
