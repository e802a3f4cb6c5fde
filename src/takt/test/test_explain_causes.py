# SPDX-License-Identifier: Apache-2.0
"""Which kind of share is the cause of a miss, and when a miss is partly explained."""

from __future__ import annotations

from pathlib import Path

import pytest
from explained_traces import HIGH, LOW, MS, OTHER, application, begin, end, explained
from rich.console import Console

from takt.schedule.explain import Explanation
from takt.schedule.explain.html import render
from takt.schedule.explain.model import Late, ShareKind
from takt.schedule.explain.show import show

US = 1_000


def only(found: Explanation) -> Late:
    (late,) = found.details
    assert found.misses == 1
    assert found.by_cause == {late.cause: 1}
    return late


def printed(found: Explanation) -> str:
    console = Console(width=200, record=True, file=None, quiet=False)
    with console.capture() as captured:
        show(console, found)
    return captured.get()


def test_own_execution_is_the_cause_where_none_was_declared(tmp_path: Path) -> None:
    """55 ms of execution with a deadline of 10 ms, noticed 60 µs late: not the 60 µs."""
    found = explained(
        tmp_path,
        begin(LOW, 0, 60 * US, deadline=10 * MS),
        end(LOW, 55_060 * US, 55 * MS),
    )
    late = only(found)
    assert (late.cause, late.cause_us, late.partly) == (ShareKind.executed, 55_000, False)
    assert found.partly == 0
    assert "own execution took 55.000 ms" in printed(found)
    assert "none declared" in late.shares[0].evidence


def test_declared_execution_beyond_the_deadline_is_the_cause(tmp_path: Path) -> None:
    found = explained(
        tmp_path,
        application(worst=60 * MS),
        begin(LOW, 0, 60 * US, deadline=10 * MS),
        end(LOW, 55_060 * US, 55 * MS),
    )
    assert (only(found).cause, only(found).partly) == (ShareKind.executed, False)


@pytest.mark.parametrize("declared", [True, False])
def test_what_suffices_is_the_cause_even_if_execution_is_longer(
    tmp_path: Path, declared: bool
) -> None:
    """3 ms of preemption explain 1 ms of lateness; 5 ms of execution are as usual."""
    found = explained(
        tmp_path,
        application() if declared else [],
        begin(LOW, 0, 0, deadline=7 * MS),
        begin(HIGH, 2 * MS, 2 * MS),
        end(HIGH, 5 * MS, 3 * MS),
        end(LOW, 8 * MS, 5 * MS),
    )
    late = only(found)
    assert (late.cause, late.by, late.partly) == (ShareKind.preempted, "high", False)


def test_a_cause_that_does_not_suffice_explains_partly(tmp_path: Path) -> None:
    """10 ms late: 8 ms preempted and 7 ms waited for, neither of which is enough alone."""
    found = explained(
        tmp_path,
        application(),
        begin(OTHER, 0, 0),
        end(OTHER, 7 * MS, 7 * MS),
        begin(LOW, 0, 7 * MS, deadline=9 * MS),
        begin(HIGH, 8 * MS, 8 * MS),
        end(HIGH, 16 * MS, 8 * MS),
        end(LOW, 19 * MS, 4 * MS),
    )
    late = only(found)
    assert (late.cause, late.by, late.cause_us) == (ShareKind.preempted, "high", 8_000)
    assert late.partly
    assert (found.partly, found.callbacks[0].partly) == (1, 1)
    text = printed(found)
    assert "1 of them are partly explained" not in text
    assert "1 of them is partly explained" in text
    assert "partly explained; the largest cause, preempted by high, takes 8.000 ms" in text
    assert "partly explained" in render(found)


@pytest.mark.parametrize(("lateness", "partly"), [(8 * MS, False), (8 * MS + 1, True)])
def test_a_cause_suffices_up_to_its_own_length(tmp_path: Path, lateness: int, partly: bool) -> None:
    found = explained(
        tmp_path,
        application(),
        begin(LOW, 0, 0, deadline=12 * MS - lateness),
        begin(HIGH, 1 * MS, 1 * MS),
        end(HIGH, 9 * MS, 8 * MS),
        end(LOW, 12 * MS, 4 * MS),
    )
    late = only(found)
    assert late.partly is partly
    assert late.cause is ShareKind.preempted


def test_a_miss_without_any_other_share_is_its_own_execution(tmp_path: Path) -> None:
    found = explained(
        tmp_path, application(), begin(LOW, 0, 0, deadline=2 * MS), end(LOW, 4 * MS, 4 * MS)
    )
    late = only(found)
    assert (late.cause, late.by, late.partly) == (ShareKind.executed, None, False)
