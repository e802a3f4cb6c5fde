# SPDX-License-Identifier: Apache-2.0
"""takt report of a robot: its figures are those of analyse, simulate and metrics."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import trace_files as make
from conftest import Takt

from takt.schedule.trace.file import Type

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
ROBOT = EXAMPLES / "two_processes.app.yaml"
MODES = EXAMPLES / "modes.app.yaml"


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    return Path(shutil.copy(ROBOT, tmp_path / "robot.app.yaml"))


def rows(page: Path) -> dict[str, list[str]]:
    """The cells of each row of a table, by its head; bars are left out."""
    found = {}
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", page.read_text(encoding="utf-8"), re.DOTALL):
        head = re.search(r'<th scope="row">(.*?)</th>', row, re.DOTALL)
        if head:
            cells = re.findall(r'<td class="number[^>]*>([^<]*)</td>', row)
            found[re.sub(r"<[^>]*>", "", head[1]).strip()] = cells
    return found


def ms(us: float | None) -> str:
    return "–" if us is None else f"{us / 1000:.3f}"


def test_bounds_and_simulated_times_equal_what_the_commands_print(takt: Takt, robot: Path) -> None:
    (scenario,) = takt.json("analyse", robot)["scenarios"]
    simulated = takt.json("simulate", robot)
    takt("report", robot)
    found = rows(robot.with_suffix(".html"))
    played = {one["callback"]: one["response"] for one in simulated["callbacks"]}
    for one in scenario["callbacks"]:
        times = played[one["name"]]
        assert found[one["name"]] == [
            *(ms(one[key]) for key in ("deadline_us", "wcet_us", "response_us")),
            *(ms(times[key]) for key in ("p50_us", "p99_us", "max_us")),
            "0",
        ]
    (chain,), (latency,) = scenario["chains"], simulated["chains"]
    times = [ms(latency["latency"][key]) for key in ("p50_us", "p99_us", "max_us")]
    assert found["stop"] == [ms(chain["latency_us"]), ms(chain["max_latency_us"]), *times]
    assert sum(term["time_us"] for term in chain["terms"]) == pytest.approx(chain["latency_us"])
    for term in chain["terms"]:
        name = f"handover to {term['name']}" if term["kind"] == "handover" else term["name"]
        assert found[name] == [f"{ms(term['time_us'])} ms"]


def test_what_was_measured_stands_beside(takt: Takt, robot: Path, tmp_path: Path) -> None:
    trace, page = tmp_path / "run.takttrace", tmp_path / "page.html"
    takt("simulate", robot, "--execution", "drawn", "--trace", trace)
    (measured,) = takt.json("metrics", trace)["traces"]
    takt("report", robot, "--measured", trace, "--out", page)
    (chain,) = measured["chains"]
    expected = [ms(chain["latency_us"][key]) for key in ("median", "p99", "max")]
    assert rows(page)["stop"][-3:] == expected
    text = page.read_text(encoding="utf-8")
    assert "All limits of callbacks and chains are guaranteed" in text
    assert "confidence 95%" in text or "confidence 99%" in text


def test_a_response_above_its_bound_is_said_first(takt: Takt, robot: Path, tmp_path: Path) -> None:
    trace, page = tmp_path / "run.takttrace", tmp_path / "page.html"
    takt("simulate", robot, "--trace", trace)
    text = robot.read_text(encoding="utf-8")
    robot.write_text(text.replace("wcet: 9ms", "wcet: 1ms"), encoding="utf-8")
    takt("report", robot, "--measured", trace, "--out", page)
    text = page.read_text(encoding="utf-8")
    assert "what was measured is above a bound" in text
    assert re.search(r"detector\.<wbr>detect <span class=\"state\">above its bound", text)


def test_a_limit_that_is_exceeded_is_said_first(takt: Takt, robot: Path) -> None:
    text = robot.read_text(encoding="utf-8")
    robot.write_text(text.replace("max_latency: 50ms", "max_latency: 20ms"), encoding="utf-8")
    takt("report", robot)
    page = robot.with_suffix(".html").read_text(encoding="utf-8")
    assert "A limit is exceeded in simulation" in page
    assert "1 of 1 chain (stop)" in page


def _one_process(robot: Path) -> None:
    text = re.sub(r"(?ms)^processes:.*?(?=^nodes:)", "policy: dm\n", robot.read_text("utf-8"))
    robot.write_text(text, encoding="utf-8")


def test_an_application_of_one_process_is_drawn_too(takt: Takt, robot: Path) -> None:
    _one_process(robot)
    (scenario,) = takt.json("analyse", robot)["scenarios"]
    simulated = takt.json("simulate", robot)
    takt("report", robot)
    page = robot.with_suffix(".html")
    found = rows(page)
    for one in scenario["callbacks"]:
        assert found[one["name"]][2] == ms(one["response_us"])
    (chain,), (played,) = scenario["chains"], simulated["chains"]
    for kind in ("reaction", "age"):
        times = [ms(played[kind][key]) for key in ("p50_us", "p99_us", "max_us")]
        assert found[kind] == [ms(chain[f"{kind}_us"]), "–", *times]
    text = page.read_text(encoding="utf-8")
    assert "1 process on 1 core" in text
    assert "takt (dm)" in text
    assert "Its threads have their cores" in text


def test_topics_have_rates_and_bytes_per_second(takt: Takt, robot: Path, tmp_path: Path) -> None:
    trace, page = tmp_path / "run.takttrace", tmp_path / "page.html"
    takt("simulate", robot, "--trace", trace)
    # Before the first job, as where hosts wait for each other: no part of the time of the rates.
    before = make.event(-5_000_000_000, Type.stolen, value=1)
    records = trace.read_bytes()
    trace.write_bytes(make.header(source=2) + before + records[64:])
    takt("report", robot, "--measured", trace, "--out", page)
    # 900 kB each 33 ms; what was measured ends a little before or after a period.
    writers, readers, size, most, kilobytes, simulated, measured, sent = rows(page)["image"]
    assert (writers, readers, size) == ("1", "1", "900")
    assert (most, kilobytes) == ("30.3", "27272.7")
    assert float(simulated) == pytest.approx(1000 / 33, rel=0.01)
    assert float(measured) == pytest.approx(1000 / 33, rel=0.01)
    assert float(sent) == pytest.approx(900_000 / 33, rel=0.01)
    assert rows(page)["obstacle"][2:5] == ["–", most, "–"]


def test_a_join_publishes_as_often_as_its_slowest_callback(takt: Takt, tmp_path: Path) -> None:
    robot, trace = tmp_path / "fusion.app.yaml", tmp_path / "fusion.takttrace"
    joined = "wcet: 1ms, priority: 5, join: both, writes: {world: 2kB}"
    robot.write_text(
        "processes:\n"
        "  eyes: {cpu: 0, priority: 50, nodes: [eyes]}\n"
        "  mind: {cpu: 1, priority: 50, nodes: [mind]}\n"
        "nodes:\n"
        "  eyes:\n"
        "    left: {timer: 50ms, wcet: 1ms, priority: 2, writes: [left]}\n"
        "    right: {timer: 25ms, wcet: 1ms, priority: 3, writes: [right]}\n"
        "  mind:\n"
        f"    left: {{on: left, {joined}}}\n"
        f"    right: {{on: right, {joined}}}\n"
        "    use: {on: world, wcet: 1ms, priority: 1, deadline: 50ms}\n"
    )
    takt("simulate", robot, "--trace", trace, "--duration", "2s")
    takt("report", robot, "--measured", trace)
    page = robot.with_suffix(".html")
    writers, _, _, most, kilobytes, simulated, measured, _ = rows(page)["world"]
    assert (writers, most, kilobytes, simulated) == ("2", "20.0", "40.0", "20.0")
    assert float(measured) == pytest.approx(20, rel=0.05)
    assert "<li>fusion.takttrace (simulator)" in page.read_text(encoding="utf-8")


def test_a_client_that_waits_is_drawn_with_its_server(takt: Takt, tmp_path: Path) -> None:
    robot = tmp_path / "asks.app.yaml"
    robot.write_text(
        "processes:\n"
        "  a: {cpu: 0, priority: 50, nodes: [a]}\n"
        "  b: {cpu: 1, priority: 50, nodes: [b]}\n"
        "nodes:\n"
        "  a: {ask: {timer: 50ms, segments: [1ms, {call: /plan}, 1ms], priority: 2}}\n"
        "  b: {plan: {service: /plan, wcet: 1ms, priority: 2}}\n"
    )
    takt("report", robot)
    page = robot.with_suffix(".html").read_text(encoding="utf-8")
    assert page.count('class="edge"') == 2


def test_processes_are_found_by_their_names(takt: Takt, robot: Path) -> None:
    (scenario,) = takt.json("analyse", robot)["scenarios"]
    shares = {one["process"]: one["utilization"] for one in scenario["cores"]}
    assert set(shares) == {"control", "vision"}
    takt("report", robot)
    page = robot.with_suffix(".html").read_text(encoding="utf-8")
    for name, share in shares.items():
        caption = page[page.index(f'<span class="title">{name}</span>') :]
        assert f"{share * 100:.1f} % of the core" in caption.partition("</caption>")[0]


def _sections(page: Path) -> dict[str, str]:
    """By the ids of the sections; those of scenarios end with their numbers."""
    text = page.read_text(encoding="utf-8")
    return dict(re.findall(r'<section id="([^"]*)">(.*?)</section>', text, re.DOTALL))


def _rows_of(section: str, tmp_path: Path) -> dict[str, list[str]]:
    part = tmp_path / "part.html"
    part.write_text(section, encoding="utf-8")
    return rows(part)


def test_each_scenario_has_its_bounds_and_figures(takt: Takt, tmp_path: Path) -> None:
    robot = Path(shutil.copy(MODES, tmp_path / "modes.app.yaml"))
    trace, page = tmp_path / "run.takttrace", tmp_path / "page.html"
    takt("simulate", robot, "--execution", "drawn", "--trace", trace)
    analysis = takt.json("analyse", robot)
    (measured,) = takt.json("metrics", trace)["traces"]
    done = takt("report", robot, "--measured", trace, "--out", page)
    assert done.returncode == 0, done.stderr
    sections = _sections(page)
    switches = _rows_of(sections["switches"], tmp_path)
    for number, scenario in enumerate(analysis["scenarios"]):
        found = _rows_of(sections[f"processes-{number}"], tmp_path)
        assert set(found) == {one["name"] for one in scenario["callbacks"]}
        for one in scenario["callbacks"]:
            assert found[one["name"]][2] == ms(one["response_us"])
        (chain,) = scenario["chains"]
        assert _rows_of(sections[f"chains-{number}"], tmp_path)["stop"][0] == ms(
            chain["latency_us"]
        )
        assert f"in scenario {scenario['name']}" in sections[f"processes-{number}"]
    # Every latency is of one scenario, or stands beside a switch.
    (chain,) = measured["chains"]
    counts = [
        int(re.findall(r"measured <small>max of (\d+)", sections[f"terms-{n}"])[0]) for n in (0, 1)
    ]
    assert sum(counts) + int(switches["stop"][4]) == chain["latency_us"]["count"]
    assert int(switches["stop"][4]) > 0
    around = analysis["switches"]["responses_us"] | analysis["switches"]["latencies_us"]
    assert around.keys() == switches.keys()
    assert {name: row[0] for name, row in switches.items()} == {
        name: ms(us) for name, us in around.items()
    }
    assert (
        "(how jobs of two scenarios meet" in sections["switches"]
        or "proved" in sections["switches"]
    )


def test_a_scenario_that_does_not_keep_its_limits_is_said_first(takt: Takt, robot: Path) -> None:
    _one_process(robot)
    with robot.open("a", encoding="utf-8") as file:
        file.write("scenarios: {fast: {}, slow: {camera.grab: {wcet: 20ms, timer: 25ms}}}\n")
    takt("report", robot)
    page = robot.with_suffix(".html").read_text(encoding="utf-8")
    assert re.search(r"Not guaranteed: [^<]*\([^)]*detector.detect[^)]*\)", page)
    assert "None are described" in page


def test_what_is_no_application_is_refused(takt: Takt, robot: Path) -> None:
    text = robot.read_text(encoding="utf-8").replace("nodes: [guard", "nodes: [other")
    robot.write_text(text, encoding="utf-8")
    done = takt("report", robot)
    assert done.returncode == 2
    assert "exist" in done.stderr
    assert not robot.with_suffix(".html").exists()


def test_a_trace_of_another_application_is_refused(takt: Takt, robot: Path, tmp_path: Path) -> None:
    trace = tmp_path / "other.takttrace"
    takt("simulate", ROBOT.with_name("three_tasks.app.yaml"), "--duration", "1s", "--trace", trace)
    done = takt("report", robot, "--measured", trace)
    assert done.returncode == 2
    assert "none of its callbacks" in done.stderr


def test_callbacks_that_the_trace_does_not_have_are_named(
    takt: Takt, robot: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "other.takttrace"
    takt("simulate", ROBOT.with_name("docking.app.yaml"), "--duration", "1s", "--trace", trace)
    known = {one["callback"] for one in takt.json("simulate", robot)["callbacks"]}
    takt("report", robot, "--measured", trace)
    text = robot.with_suffix(".html").read_text(encoding="utf-8")
    found = re.search(r"Not in the trace: (\d+) of (\d+) callbacks", text)
    assert found
    assert 0 < int(found[1]) < int(found[2]) == len(known)


def test_threads_have_terms_and_tables_and_a_driver_is_drawn(takt: Takt, tmp_path: Path) -> None:
    page = tmp_path / "threads.html"
    takt("report", ROBOT.with_name("threads.app.yaml"), "--out", page)
    found = rows(page)
    assert found["thread control.dds"] == ["0.060 ms"]
    assert found["control.dds.obstacle"][2] == "0.360"
    assert found["image"][:2] == ["1", "1"]
    text = page.read_text(encoding="utf-8")
    assert "3 processes on 2 cores" in text
    assert "<title>vision.camera</title>" in text
