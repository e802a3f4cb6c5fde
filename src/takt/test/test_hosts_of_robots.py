# SPDX-License-Identifier: Apache-2.0
"""An app.yaml of a robot on several hosts, with links that are declared or measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Takt

from takt.errors import TaktError
from takt.schedule.analysis.ask import analyse
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.executors.compare import compare
from takt.schedule.simulation.simulate import simulate

EXAMPLE = Path(__file__).parents[3] / "examples" / "two_hosts.app.yaml"
DECLARED = "latency: [150us, 2ms], loss: 1000ppm, drift: 100ppm"


def _changed(tmp_path: Path, old: str, new: str) -> Path:
    text = EXAMPLE.read_text()
    assert old in text
    file = tmp_path / "changed.app.yaml"
    file.write_text(text.replace(old, new))
    return file


def _cell(**changes: Any) -> dict[str, Any]:
    cell = {
        "id": "cell-r1",
        "key": "cell",
        "kind": "pubsub",
        "status": "complete",
        "count": 2999,
        "lost": 0,
        "statistics": {"latency": {"min_us": 120.5, "max_us": 900.25}},
        "conditions": {"clock_bound_us": 20.0},
    }
    return cell | changes


def _measured(tmp_path: Path, *cells: dict[str, Any], reference: str = "run#cell") -> Path:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(json.dumps({"cells": cells}))
    return _changed(tmp_path, DECLARED, f'from: "{reference}"')


def _link(file: Path) -> dict[str, Any]:
    (link,) = flat(read_application(file))["links"]
    return dict(link)


def test_what_is_written_is_the_same_robot(tmp_path: Path) -> None:
    document = flat(read_application(EXAMPLE))
    assert document["links"] == [
        {"hosts": ["pc", "motors"], "least": 150_000, "most": 2_000_000, "loss": 1000}
        | {"drift": 100, "measured": 0}
    ]
    again = tmp_path / "again.app.yaml"
    again.write_text(app_yaml(document, "again"))
    assert flat(read_application(again)) == document


def test_the_bound_is_above_what_is_simulated_and_names_the_link() -> None:
    document = flat(read_application(EXAMPLE))
    (scenario,) = analyse(document, "").scenarios
    (chain,) = scenario.chains
    assert chain.latency_us is not None
    assert [one.kind for one in chain.terms] == ["process", "link", "process"]
    assert chain.terms[1].time_us == 2000
    assert chain.loss == pytest.approx(0.001)
    assert {(one.host, one.cpu) for one in scenario.cores} == {("pc", 0), ("motors", 0)}
    simulated = simulate(document, where="", duration=10**10, execution="drawn")
    (played,) = simulated.chains
    assert played.latency is not None
    assert 0 < played.latency.max_us <= chain.latency_us
    assert chain.reaction_us is None  # the link may lose what it reacts to
    assert played.age is not None
    assert chain.age_us is not None
    assert 0 < played.age.max_us <= chain.age_us
    assert {one.host for one in simulated.callbacks} == {"pc", "motors"}


def test_people_read_hosts_and_losses(takt: Takt) -> None:
    shown = takt("analyse", EXAMPLE).stdout
    assert "core 0 of motors: utilization" in shown
    assert "at most 0.1 % lost on links" in shown
    assert "assuming that the clocks of hosts 'pc' and 'motors' differ by at most 0.01 %" in shown
    assert "cpu 0 of pc:" in takt("simulate", EXAMPLE, "--duration", "1s").stdout


def test_publications_give_the_latency_with_the_error_of_the_clocks(tmp_path: Path) -> None:
    link = _link(_measured(tmp_path, _cell()))
    assert (link["least"], link["most"]) == (100_500, 920_250)
    assert (link["loss"], link["measured"]) == (0, 2999)


def test_all_repetitions_of_a_key_count(tmp_path: Path) -> None:
    slow = {"latency": {"min_us": 200.0, "max_us": 5000.0}}
    file = _measured(tmp_path, _cell(), _cell(id="cell-r2", statistics=slow, count=999, lost=2))
    link = _link(file)
    assert (link["least"], link["most"], link["measured"]) == (100_500, 5_020_000, 4000)
    assert link["loss"] == 500  # 2 of 4000


def test_a_way_is_no_longer_than_its_round_trip(tmp_path: Path) -> None:
    link = _link(_measured(tmp_path, _cell(kind="pingpong", conditions=None)))
    assert (link["least"], link["most"]) == (0, 900_250)


@pytest.mark.parametrize(
    ("cells", "reference", "says"),
    [
        ([_cell()], "run#other", "no ping-pong or publications other in .*: its cells are cell"),
        ([_cell(kind="wakeup")], "run#cell", "it has none"),
        ([_cell(status="failed", statistics=None)], "run#cell", "is not complete: measure it"),
        ([_cell()], "nowhere#cell", "cannot read the run .*nowhere"),
    ],
)
def test_a_run_without_a_usable_cell_is_refused(
    tmp_path: Path, cells: list[dict[str, Any]], reference: str, says: str
) -> None:
    file = _measured(tmp_path, *cells, reference=reference)
    with pytest.raises(TaktError, match=says) as refused:
        read_application(file)
    assert "changed.app.yaml:" in str(refused.value.where)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    file = _measured(tmp_path, _cell())
    (tmp_path / "run" / "run.json").write_text('{"cells": 3}')
    with pytest.raises(TaktError, match="is not the document of a run"):
        read_application(file)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (DECLARED, "loss: 1%", "give its latency"),
        (DECLARED, "latency: [2ms, 1ms]", "the first latency is above the second"),
        (DECLARED, "latency: [1ms, 2ms], loss: 100%", "a link that loses all messages"),
        (DECLARED, 'latency: [1ms, 2ms], from: "a#b"', "both latency and from"),
    ],
)
def test_a_wrong_link_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    with pytest.raises(TaktError, match=says):
        read_application(_changed(tmp_path, old, new))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("hosts: [pc, motors]", "hosts: [pc, motor]", "no process runs on host 'motor'"),
        ("host: motors, ", "", "it has no host, and others have one"),
        ("host: motors, ", "host: arm, ", "no process runs on host 'motors'"),
    ],
)
def test_hosts_that_do_not_fit_are_refused_with_their_place(
    takt: Takt, tmp_path: Path, old: str, new: str, says: str
) -> None:
    done = takt("analyse", _changed(tmp_path, old, new))
    assert done.returncode == 2
    assert says in done.stderr
    assert "changed.app.yaml:" in done.stderr


def test_a_reader_on_a_host_without_link_is_named(takt: Takt, tmp_path: Path) -> None:
    text = EXAMPLE.read_text()
    links = text[text.index("links:") : text.index("nodes:\n")]
    done = takt("analyse", _changed(tmp_path, links, ""))
    assert "guard.brake" in done.stderr
    assert "there is no link between them" in done.stderr
    assert "hosts: [pc, motors]" in done.stderr


def test_links_without_processes_are_refused(tmp_path: Path) -> None:
    text = EXAMPLE.read_text()
    processes = text[text.index("processes:") : text.index("links:")]
    with pytest.raises(TaktError, match="links is given, but there are no processes"):
        read_application(_changed(tmp_path, processes, ""))


def test_execution_asks_for_the_machines_of_hosts(takt: Takt) -> None:
    done = takt("execute", EXAMPLE, "--duration", "1s")
    assert "--hosts: no machine given, but its hosts are pc, motors" in done.stderr


def test_the_page_has_the_cores_of_each_host_and_the_link(takt: Takt, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = takt("report", EXAMPLE, "--out", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "Core 0 of motors" in text
    assert "Core 0 of pc" in text
    assert "link to guard.brake" in text
    assert "links lose at most 0.1 % of its data" in text


def test_executors_of_a_robot_on_two_hosts_are_compared() -> None:
    found = compare(flat(read_application(EXAMPLE)), "robot", duration=500_000_000)
    assert len([one for one in found.candidates if one.refused is None]) > 2
    for each in found.candidates:
        for one in [*each.callbacks, *each.chains]:
            if one.bound_us is not None and one.max_us is not None:
                assert one.max_us <= one.bound_us, (each.name, one.name)
