# SPDX-License-Identifier: Apache-2.0
"""A paper between machines: which worker is which of its hosts, and what is run there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from conftest import Takt
from synthetic_round_trips import Installed

from takt.errors import TaktError
from takt.measure.experiment.file import read_experiment
from takt.measure.experiment.plan import Machine, plan
from takt.network.workers import Workers
from takt.reproduce import papers
from takt.reproduce.experiment import scaled
from takt.reproduce.gutierrez2018.extent import between, extent, placed
from takt.reproduce.hosts import parse, resolve
from takt.reproduce.model import Request
from takt.reproduce.published import experiment_file, read_published

ROLES = ("controller", "component")
PAPER = "gutierrez2018"
OFFERED = {
    "tls://10.0.0.1:4000": {"resources": {"controller": 1.0}},
    "tls://10.0.0.2:4001": {"resources": {"arm": 1.0, "component": 1.0}},
    "tls://10.0.0.3:4002": {"resources": {"robot": 1.0}},
}


def workers() -> Workers:
    identity = {"workers": OFFERED}
    scheduler = SimpleNamespace(addr="tls://desk:8786", identity=lambda **_: identity)
    client: Any = SimpleNamespace(scheduler=scheduler, sync=lambda ask, **words: ask(**words))
    return Workers(client)


@pytest.mark.parametrize("text", ["controller", "controller=a", "controller=a,robot=b", "a=,b="])
def test_what_does_not_name_each_machine_of_the_paper_is_refused(text: str) -> None:
    with pytest.raises(TaktError, match=PAPER) as refused:
        parse(text, ROLES, PAPER)
    assert refused.value.fix == "controller=ADDRESS,component=ADDRESS"


def test_a_paper_on_one_machine_has_no_hosts() -> None:
    assert papers.hosts(PAPER) == ROLES
    with pytest.raises(TaktError, match="ye2023 has no experiment between hosts"):
        parse("controller=a,component=b", papers.hosts("ye2023"), "ye2023")


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("controller=10.0.0.1, component=10.0.0.2", ["controller", "component"]),
        ("component=robot,controller=10.0.0.1", ["controller", "robot"]),
        ("controller=10.0.0.3,component=arm", ["robot", "arm"]),
        ("controller=here,component=10.0.0.2", ["here", "component"]),
    ],
)
def test_a_host_is_the_address_or_the_name_of_its_worker(text: str, hosts: list[str]) -> None:
    found = resolve(parse(text, ROLES, PAPER), workers())
    assert list(found.items()) == list(zip(ROLES, hosts, strict=True))


def test_one_machine_is_not_both_hosts() -> None:
    asked = parse("controller=robot,component=10.0.0.3", ROLES, PAPER)
    with pytest.raises(TaktError, match="controller and component are the same host"):
        resolve(asked, workers())


def test_a_host_without_a_worker_is_refused_with_the_known_ones() -> None:
    with pytest.raises(TaktError, match="no worker of the scheduler is at") as refused:
        resolve({"controller": "10.0.0.9"}, workers())
    assert "controller at 10.0.0.1, arm at 10.0.0.2, component at 10.0.0.2" in refused.value.what
    assert refused.value.fix == "on that machine: ./takt worker tls://desk:8786 controller"


@pytest.mark.parametrize(
    "words",
    [("--hosts", "controller=a,component=b"), ("--scheduler", "tls://desk:8786")],
)
def test_hosts_and_their_scheduler_belong_together(takt: Takt, words: tuple[str, ...]) -> None:
    printed = takt("reproduce", PAPER, *words)
    assert printed.returncode == 2
    assert "hosts and the scheduler of their workers belong together" in printed.stderr


def test_the_tests_between_machines_have_the_papers_loads_and_no_link_of_ours() -> None:
    experiment, source = read_experiment(experiment_file(PAPER))
    apart = placed(between(scaled(experiment, 0.001, extent), ["pc", "arm"]), [0, 1], Installed())
    everything = Machine(frozenset({0, 1}), 64 << 30)
    cells = plan(apart, source, Installed(), everything, 1).cells
    assert {cell.host for cell in cells} == {"pc,arm"}
    assert {cell.link_mbps for cell in cells} == {0.0}
    loads = {cell.label: cell.loads for cell in cells}
    assert loads["1.A"] == {"pc": "idle", "arm": "idle"}
    assert loads["1.B"] == {"pc": "stress", "arm": "stress 2"}
    assert {cell.label: cell.traffic_mbps for cell in cells}["2.F"] == 80
    labels = {str(block.label) for block in experiment.measurements}
    assert labels - loads.keys() == {"own-class", "own-class-load"}


def test_the_page_names_the_differences_between_machines() -> None:
    published = read_published(PAPER)

    def of(hosts: dict[str, str]) -> dict[str, str]:
        request = Request(hosts=hosts)
        fields: dict[str, Any] = {"findings": [], "tables": [], "figures": []}
        outcome = published.outcome(request, experiment_file(PAPER), unfinished=[], **fields)
        return {one.paper: one.here for one in outcome.deviations}

    here, apart = of({}), of({"controller": "pc", "component": "arm"})
    assert set(apart) - set(here) == {
        "a traffic class of the messages' own is proposed (section IV)"
    }
    assert "network namespaces" in here[next(iter(here))]
    assert not any("namespace" in text for text in apart.values())
