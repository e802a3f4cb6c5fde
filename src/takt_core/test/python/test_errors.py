# SPDX-License-Identifier: Apache-2.0
"""What the core refuses reaches Python in its parts, not as a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import takt_core


def simulate(json: str) -> object:
    return takt_core.simulate(json, duration_ns=1)


ASKS: list[Callable[[str], object]] = [takt_core.analyse, simulate, takt_core.declared]


def application(**callback: Any) -> str:
    flat = {"name": "a", "period": 5_000_000, "priority": 5, "execution": {"worst": 1}, **callback}
    return json.dumps({"version": 1, "name": "x", "callbacks": [flat]})


@pytest.mark.parametrize("ask", ASKS)
def test_a_fault_of_a_document_has_its_place_in_it(ask: Callable[[str], object]) -> None:
    with pytest.raises(takt_core.Error) as caught:
        ask(application(perod=1))
    assert caught.value.where == caught.value.path == "/callbacks/0/perod"
    assert caught.value.problem == "is unknown here"
    assert caught.value.fix == "let ./takt write this form from an app.yaml"


@pytest.mark.parametrize("ask", ASKS[:2])
def test_what_an_executor_refuses_is_reported_by_task_problem_and_fix(
    ask: Callable[[str], object],
) -> None:
    name = "odd. Fix: none"  # a sentence could not be taken apart here
    with pytest.raises(takt_core.Error) as caught:
        ask(application(name=name, period=-1))
    assert caught.value.where == f"task '{name}'"
    assert caught.value.problem == "its period is negative: -1 ns"
    assert caught.value.fix == "give a time of 0 or more"
    assert caught.value.path == ""


def test_a_file_that_is_no_trace_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(b"TAKTTRC1" + bytes(56))
    with pytest.raises(takt_core.Error) as caught:
        takt_core.Trace(str(path))
    assert (caught.value.where, caught.value.fix) == (
        str(path),
        "copy it again, or record it again",
    )
    with pytest.raises(OSError, match="nothing") as missing:
        takt_core.Trace(str(tmp_path / "nothing"))
    assert missing.value.errno == 2
