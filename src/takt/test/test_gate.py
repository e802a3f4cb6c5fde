# SPDX-License-Identifier: Apache-2.0
"""``takt gate``: exit codes, and what continuous integration reads."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import takt as call

TIMELY = """
cpus: [1]
policy: fp
nodes:
  a:
    slow: {timer: 20ms, wcet: 4ms, priority: 40}
    fast: {timer: 20ms, wcet: 2ms, deadline: 7ms, priority: 10}
"""


Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def takt(capsys: pytest.CaptureFixture[str]) -> Call:
    """Calls the tool: exit code, standard output, standard error."""

    def called(*words: str | Path) -> tuple[int, str, str]:
        code = call([str(word) for word in words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return called


@pytest.fixture
def traces(tmp_path: Path, takt: Call) -> dict[str, Path]:
    """Simulated: as described, and with a callback that became slower."""
    found = {}
    for name, text in (
        ("timely", TIMELY),
        ("slower", TIMELY.replace("wcet: 4ms", "wcet: 6ms")),
    ):
        app, trace = tmp_path / f"{name}.app.yaml", tmp_path / f"{name}.takttrace"
        app.write_text(text, encoding="utf-8")
        takt("simulate", app, "--duration", "1s", "--trace", trace)
        found[name] = trace
    return found


def test_exit_codes(traces: dict[str, Path], tmp_path: Path, takt: Call) -> None:
    assert takt("gate", traces["timely"])[0] == 0
    code, out, _ = takt("gate", traces["timely"], traces["slower"])
    assert code == 1
    assert "a.fast, response: fails: 50 of 50 exceed" in out
    rare = tmp_path / "rare.limits.yaml"
    rare.write_text("callbacks:\n  a.fast: {response: 7ms, late: 0.1%}\n", encoding="utf-8")
    code, out, _ = takt("gate", traces["timely"], "--limits", rare)
    assert code == 3
    assert "would decide" in out
    assert takt("gate", rare)[0] == 2


def test_json_is_one_document(traces: dict[str, Path], takt: Call) -> None:
    document = json.loads(takt("gate", *traces.values(), "--json")[1])
    assert document["schema_version"] == 1
    assert document["outcome"] == "fails"
    assert [one["outcome"] for one in document["verdicts"]] == ["meets", "fails"]


def test_junit_and_markdown_name_what_failed(
    traces: dict[str, Path], tmp_path: Path, takt: Call
) -> None:
    junit, markdown = tmp_path / "gate.xml", tmp_path / "gate.md"
    takt("gate", traces["slower"], "--junit", junit, "--markdown", markdown)
    (suite,) = ET.parse(junit).getroot()  # noqa: S314 - of our own making
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert (failed, suite.get("failures")) == (["a.fast, response"], "1")
    assert "| a.fast | response | 7 ms | 8 ms | 50 of 50 | **fails** |" in markdown.read_text()


def test_annotations_are_printed_on_github_only(
    traces: dict[str, Path], takt: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert "::error" not in takt("gate", traces["slower"])[1]
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert "::error title=a.fast, response::50 of 50 exceed" in takt("gate", traces["slower"])[1]


def test_an_error_of_the_limits_file_names_its_line(
    traces: dict[str, Path], tmp_path: Path, takt: Call
) -> None:
    file = tmp_path / "bad.limits.yaml"
    file.write_text("callbacks:\n  a.fast: {respond: 7ms}\n", encoding="utf-8")
    code, _, err = takt("gate", traces["timely"], "--limits", file)
    assert code == 2
    assert f"{file}:2" in err


def test_names_that_the_trace_does_not_have_are_all_reported_at_their_lines(
    traces: dict[str, Path], tmp_path: Path, takt: Call
) -> None:
    file = tmp_path / "bad.limits.yaml"
    file.write_text(
        "callbacks:\n  a.fast: {response: 7ms}\n  a.fats: {response: 7ms}\n"
        "chains:\n  brake:\n    latency: 7ms\n",
        encoding="utf-8",
    )
    code, _, err = takt("gate", traces["timely"], "--limits", file)
    assert code == 2
    assert f"{file}:3: the limits name callback 'a.fats', which the trace" in err
    assert f"{file}:5: the limits name chain 'brake'" in err
    assert str(traces["timely"]) in err


def test_a_baseline_of_a_simulation_decides_with_one_repetition(
    traces: dict[str, Path], tmp_path: Path, takt: Call
) -> None:
    file = tmp_path / "robot.limits.yaml"
    file.write_text("not_worse_than: {baseline: robot.baseline.json, by: 10%}\n", encoding="utf-8")
    base = tmp_path / "robot.baseline.json"
    # Its own limits file asks for the baseline that is not there yet.
    assert takt("gate", traces["timely"], "--limits", file, "--write-baseline", base)[0] == 0
    junit = tmp_path / "gate.xml"
    assert takt("gate", traces["timely"], "--limits", file, "--junit", junit)[0] == 0
    names = [case.get("name") for case in ET.parse(junit).iter("testcase")]  # noqa: S314
    assert "a.slow, execution p99" in names
    assert len(set(names)) == len(names)
    code, out, _ = takt("gate", traces["slower"], "--limits", file)
    assert code == 1
    assert "a.slow, execution p50: fails: 1.500 times the baseline, limit 1.1" in out


def test_the_traces_of_a_folder_are_repetitions(
    traces: dict[str, Path], tmp_path: Path, takt: Call
) -> None:
    for number in range(3):
        (tmp_path / "runs").mkdir(exist_ok=True)
        (tmp_path / "runs" / f"{number}.takttrace").write_bytes(traces["timely"].read_bytes())
    rare = tmp_path / "rare.limits.yaml"
    rare.write_text("callbacks: {a.fast: {response: 7ms, late: 3%}}\n", encoding="utf-8")
    assert takt("gate", traces["timely"], "--limits", rare)[0] == 3  # 50 jobs are too few
    code, out, _ = takt("gate", tmp_path / "runs", "--limits", rare)
    assert (code, "3 repetitions" in out) == (0, True)
    (tmp_path / "empty").mkdir()
    code, _, err = takt("gate", tmp_path / "empty")
    assert (code, "no trace" in err) == (2, True)
