# SPDX-License-Identifier: Apache-2.0
"""The experiment file: each fault is named with its line, its key and what is allowed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from takt.errors import TaktError
from takt.measure.experiment.file import read_experiment
from takt.measure.experiment.model import Experiment, normalised

ROOT = Path(__file__).resolve().parents[3]
Write = Callable[[str], Path]


def fault(path: Path) -> str:
    with pytest.raises(TaktError) as caught:
        read_experiment(path)
    assert caught.value.exit_code == 2
    return str(caught.value)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "experiments").glob("*.yaml")), ids=lambda p: p.name
)
def test_every_published_experiment_is_valid_and_survives_a_round_trip(path: Path) -> None:
    experiment, _ = read_experiment(path)
    assert Experiment.model_validate(normalised(experiment)) == experiment
    assert json.loads(json.dumps(normalised(experiment))) == normalised(experiment)


def test_an_unknown_key_is_named_with_its_line_and_the_likely_one(experiment: Write) -> None:
    text = fault(
        experiment("name: x\nmeasurements:\n  - kind: wakeup\n    stack: raw\n    periode: 1ms\n")
    )
    assert "experiment.yaml:5: unknown key measurements[0].periode" in text
    assert "did you mean period?" in text
    assert "allowed: allocator, content, cores, cpu" in text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "kind: wakup",
            (
                "must be 'wakeup', 'timer-oneshot', 'timer-cyclic', 'pingpong', 'pubsub', "
                "'ethercat' or"
            ),
        ),
        ("duration: 5", "5 is not a duration such as 10ms"),
        ("payload: [500B, 32]", "payload[1]: 32 is not a size"),
        ("rate: 0Hz", "greater than 0 Hz"),
        ("period: 0ms", "greater than 0"),
        ("scheduling: other 5", "policy other has no priority; write other, or fifo 80"),
        ("scheduling: fifo 99", "priority N from 1 to 98"),
        ("scheduling: fifo", "other, fifo N or rr N"),
        ("cpu: -1", "not any (not pinned)"),
        ("cpu: true", "not any (not pinned)"),
        ("repetitions: 0", "must be at least 1"),
        ("repetitions: many", "must be a whole number"),
        ("subscribers: []", "must not be empty"),
        ("stack: ../raw", "is not allowed: a name has"),
        ("load: heavy", "'heavy' is not none, idle, cpu, fft, stress"),
        ("load: stress 0", "stress N with N from 1 to 99"),
        ("load: [none, 5]", "load[1]: 5 is not none, idle, cpu"),
        ("host: there", 'is not here, nor two hosts such as "here,namespace"'),
        ("host: 'a,a'", "is not here, nor two hosts"),
        ("host: 'a,namespace'", "a namespace must be the second host"),
        ("traffic: 40", "40 is not a bandwidth such as 40Mbps"),
        ("traffic: 0Mbps", "must be greater than 0"),
        ("link: 200Gbps", "at most 100Gbps"),
        ("reliability: maybe", "'reliable' or 'best_effort'"),
        ("durability: persistent", "'volatile' or 'transient_local'"),
        ("content: text", "'bytes' or 'string'"),
        ("history: keep_some", "'keep_last' or 'keep_all'"),
    ],
)
def test_an_impossible_value_is_named_with_its_line(
    experiment: Write, line: str, expected: str
) -> None:
    lines = {"kind": "kind: pubsub", "stack": "stack: raw"} | {line.split(":", 1)[0]: line}
    block = "".join(f"    {one}\n" for one in lines.values())
    text = fault(experiment(f"name: x\nmeasurements:\n  -\n{block}"))
    assert (
        f"experiment.yaml:{4 + list(lines).index(line.split(':', 1)[0])}: measurements[0]" in text
    )
    assert expected in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "experiment.yaml:1: an experiment must be a mapping"),
        ("- 1\n", "an experiment must be a mapping"),
        ("name: [\n", "not valid YAML"),
        ("name: x\nname: y\n", "experiment.yaml:2: not valid YAML: the key name is there twice"),
        ("name: x\n", "key measurements is missing"),
        ("name: x\nmeasurements:\n  - 5\n", "experiment.yaml:3: measurements[0]: 5 is not a map"),
        ("name: a/b\nmeasurements: []\n", "experiment.yaml:1: name"),
        ("name: !!python/object:os.system x\nmeasurements: []\n", "experiment.yaml"),
        ("\x00", "not valid YAML"),
    ],
)
def test_a_broken_file_is_refused_where_it_breaks(
    experiment: Write, text: str, expected: str
) -> None:
    assert expected in fault(experiment(text))


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    assert "no such experiment file" in fault(tmp_path / "none.yaml")


def test_all_faults_are_reported_at_once(experiment: Write) -> None:
    text = fault(experiment("name: x\nfoo: 1\nbar: 2\nmeasurements: []\n"))
    assert "unknown key foo" in text
    assert "unknown key bar" in text


def test_all_faults_of_a_block_are_reported_at_once_each_with_its_line(experiment: Write) -> None:
    text = fault(
        experiment(
            "name: x\nmeasurements:\n"
            "- kind: wakeup\n  stack: raw\n  payload: 5B\n  depth: 1\n  rate: 1kHz\n  period: 1ms\n"
            "- kind: pingpong\n  stack: raw\n  cpu: -1\n"
        )
    )
    assert "experiment.yaml:5: measurements[0].payload: a wakeup has no payload" in text
    assert "experiment.yaml:6: measurements[0].depth: a wakeup has no depth" in text
    assert "experiment.yaml:7: measurements[0].rate: period and rate exclude each other" in text
    assert "experiment.yaml:11: measurements[1].cpu" in text


@pytest.mark.parametrize("key", ["link: 1Gbps", "queue: own", "traffic: 1Mbps"])
def test_a_link_needs_a_second_host(experiment: Write, key: str) -> None:
    block = f"{{kind: pingpong, stack: raw, {key}}}"
    text = fault(experiment(f"name: x\nmeasurements:\n- {block}\n"))
    assert "experiment.yaml:3" in text
    assert 'needs a second host: give host "here,namespace"' in text


def test_a_depth_belongs_to_the_history_that_has_one(experiment: Write) -> None:
    block = "{kind: pubsub, stack: rcl, history: [keep_last, keep_all], depth: 5}"
    text = fault(experiment(f"name: x\nmeasurements:\n- {block}\n"))
    assert "keep_all has no depth: remove depth" in text


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("distance: 1ms", "distance needs threads"),
        ("threads: 1, distance: 1ms", "distance needs threads"),
        ("threads: 2, distance: 1500ns", "whole microseconds"),
        ("threads: 0", "must be at least 1"),
    ],
)
def test_threads_and_their_distance_go_together(
    experiment: Write, keys: str, expected: str
) -> None:
    block = f"{{kind: wakeup, stack: cyclictest, {keys}}}"
    assert expected in fault(experiment(f"name: x\nmeasurements:\n- {block}\n"))


def test_period_and_rate_together_are_refused(experiment: Write) -> None:
    block = "{kind: pingpong, stack: raw, rate: 1kHz, period: 1ms}"
    assert "give one of them" in fault(experiment(f"name: x\nmeasurements:\n- {block}\n"))


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        *(("wakeup", key) for key in ("payload: 5B", "reliability: reliable", "depth: 1")),
        ("wakeup", "timeout: 1ms"),
        ("wakeup", "history: keep_all"),
        ("wakeup", "content: string"),
        ("pubsub", "threads: 2"),
        ("timer-cyclic", "distance: 1ms"),
        ("timer-cyclic", "durability: volatile"),
        ("timer-oneshot", "payload: 5B"),
        ("timer-oneshot", "rate: 1kHz"),
        ("timer-oneshot", "subscribers: 2"),
        ("timer-cyclic", "timeout: 1ms"),
        ("timer-cyclic", "wait: busy"),
        ("pingpong", "subscribers: 2"),
        ("pingpong", "talkers: 1"),
    ],
)
def test_a_key_belongs_to_its_kinds(experiment: Write, kind: str, key: str) -> None:
    path = experiment(f"name: x\nmeasurements:\n- {{kind: {kind}, stack: raw, {key}}}\n")
    assert f"a {kind} has no {key.split(':', maxsplit=1)[0]} (allowed for " in fault(path)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("kind: wakeup, samples: 5, duration: 1s", "give one of them"),
        ("kind: wakeup, samples: 1", "must be at least 2"),
        ("kind: pubsub, talker_rate: 1kHz", "needs talkers"),
        ("kind: timer-oneshot, wait: lazy", "'idle' or 'busy'"),
        ("kind: timer-oneshot, timeout: 0s", "greater than 0"),
    ],
)
def test_keys_that_do_not_go_together_are_refused(
    experiment: Write, keys: str, expected: str
) -> None:
    path = experiment(f"name: x\nmeasurements:\n- {{stack: raw, {keys}}}\n")
    assert expected in fault(path)
