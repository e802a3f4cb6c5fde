# SPDX-License-Identifier: Apache-2.0
"""Chains of messages are analysed as a whole, from the file to the text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

takt_core = pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from test_analyse import run  # noqa: E402

WCETS_US = (690, 20_700, 1_460, 2_820, 3_600)


def one_chain(policy: str) -> str:
    """A single chain on one core: 29.27 ms of computation every 110 ms."""
    lines = [f"policy: {policy}", "cpus: [0]", "nodes:", "  c:"]
    for i, wcet in enumerate(WCETS_US):
        released = (
            "timer: 110ms" if i == 0 else f'"on": t{i - 1}, deadline: 110ms, overrun: catch_up'
        )
        priority = f", priority: {50 + i}" if policy == "fp" else ""
        lines.append(f"    b{i}: {{{released}, wcet: {wcet}us{priority}, writes: {{t{i}: 100B}}}}")
    names = ", ".join(f"c.b{i}" for i in range(len(WCETS_US)))
    return "\n".join([*lines, "chains:", f"  whole: {{callbacks: [{names}], max_latency: 110ms}}"])


def pipeline(length: int) -> str:
    """Callbacks of 0.1 ms on two cores in turn, with falling priorities."""
    lines = ["policy: fp", "cpus: [0, 1]", "nodes:"]
    for i in range(length):
        released = "timer: 10ms" if i == 0 else f'"on": t{i - 1}'
        lines.append(
            f"  n{i}:\n    c: {{{released}, deadline: 100ms, priority: {98 - i}, wcet: 100us, "
            f"cpu: {i % 2}, writes: [t{i}]}}"
        )
    names = ", ".join(f"n{i}.c" for i in range(length))
    return "\n".join([*lines, "chains:", f"  whole: {{callbacks: [{names}]}}"])


def chain_of(tmp_path: Path, text: str) -> tuple[int, dict[str, Any]]:
    file = tmp_path / "chain.app.yaml"
    file.write_text(text)
    code, output = run(str(file), "--json")
    chain: dict[str, Any] = json.loads(output)["scenarios"][0]["chains"][0]
    return code, chain


@pytest.mark.parametrize("policy", ["fp", "edf"])
def test_a_chain_alone_on_a_core_takes_what_its_callbacks_compute(
    tmp_path: Path, policy: str
) -> None:
    code, chain = chain_of(tmp_path, one_chain(policy))
    assert code == 0
    assert chain["latency_us"] == sum(WCETS_US)
    assert chain["bound_by"].startswith("chain on one core as a unit")


@pytest.mark.parametrize("length", [10, 20, 30])
def test_a_pipeline_over_two_cores_takes_what_its_callbacks_compute(
    tmp_path: Path, length: int
) -> None:
    code, chain = chain_of(tmp_path, pipeline(length))
    assert code == 0
    assert chain["latency_us"] == 100 * length
    assert chain["bound_by"] == "path analysis (Schliecker & Ernst 2009), eq. 17"


def test_a_thousand_callbacks_in_chains_on_one_core_have_bounds() -> None:
    callbacks = []
    for i in range(1000):
        callback = {
            "name": f"c{i}",
            "priority": 1 + i % 98,
            "execution": {"worst": 100},
            "deadline": 1_000_000,
            "writes": [f"t{i}"],
        }
        callback |= (
            {"period": 1_000_000}
            if i % 10 == 0
            else {"kind": "message", "trigger": f"t{i - 1}", "overrun": "catch_up"}
        )
        callbacks.append(callback)
    document = {"version": 1, "name": "many", "callbacks": callbacks}
    answer = json.loads(json.dumps(takt_core.analyse(json.dumps(document), sensitivity=False)))
    responses = [each["response_us"] for each in answer["scenarios"][0]["callbacks"]]
    assert max(responses) <= 100  # all that there is to do
