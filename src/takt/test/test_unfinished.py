# SPDX-License-Identifier: Apache-2.0
"""What is not complete is told apart: not measured yet, lost by a middleware, failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from synthetic_cells import cell_of, records_of, synthetic_run

from takt.machine.system import System
from takt.measure.results.model import Cell, Note, ProbeResult, Status
from takt.measure.results.unfinished import Unfinished, reason, unfinished
from takt.measure.run import buffers
from takt.measure.run.session import judge
from takt.reproduce.unfinished import SHOWN, parts, points_left

MIB = 1024 * 1024
SUBSCRIBER, PUBLISHER = "subscriber", "publisher"


def topic(folder: Path, came: int = 5, repetition: int = 0, **asked: Any) -> Cell:
    """Of five messages so many came, the first ones; the subscriber waits for the last one."""
    asked = {"kind": "pubsub", "stack": "rustdds", "transport": "udp", "period_us": 1e5,
             "payload_bytes": 16 * MIB, "label": "sizes",
             "samples_requested": 5} | asked  # fmt: skip
    synthetic = cell_of(folder, [records_of([10.0] * came, 1e5)], repetition, **asked)
    synthetic.sent, synthetic.lost, synthetic.error = 5, 5 - came, None
    synthetic.status = Status.complete if came == 5 else Status.partial
    ended = "complete" if came == 5 else "stopped"
    synthetic.probes = [
        ProbeResult.model_validate({"role": SUBSCRIBER, "status": ended}),
        ProbeResult(role=PUBLISHER, status="complete", sent=5),
    ]
    return synthetic


def stopped(cell: Cell) -> Cell:
    """As by Ctrl-C: both were ended before their time."""
    probes = [one.model_copy(update={"status": "stopped"}) for one in cell.probes]
    return cell.model_copy(update={"probes": probes, "status": Status.partial})


def failed(cell: Cell) -> Cell:
    error = Note(what="the publisher died: SIGSEGV", why="no message", fix="fix the stack")
    return cell.model_copy(update={"status": Status.failed, "error": error})


def pending(cell: Cell) -> Cell:
    return cell.model_copy(update={"status": Status.pending, "probes": []})


def test_why_a_cell_is_not_complete_is_distinguished(tmp_path: Path) -> None:
    whole, nothing, some = (topic(tmp_path, came, came) for came in (5, 0, 3))
    assert (unfinished(whole), reason(whole)) == (None, "")
    assert (unfinished(nothing), reason(nothing)) == (
        Unfinished.lost, "none of 5 messages arrived",
    )  # fmt: skip
    assert (unfinished(some), reason(some)) == (
        Unfinished.lost, "2 of 5 messages are missing, including the last one",
    )  # fmt: skip
    assert (unfinished(stopped(some)), reason(stopped(some))) == (
        Unfinished.waiting, "stopped after 3 of 5 samples",
    )  # fmt: skip
    assert (unfinished(pending(whole)), reason(pending(whole))) == (
        Unfinished.waiting, "not measured yet",
    )  # fmt: skip
    assert (unfinished(failed(whole)), reason(failed(whole))) == (
        Unfinished.failed, "the publisher died: SIGSEGV: no message",
    )  # fmt: skip


def test_a_run_that_only_lost_messages_was_not_stopped(tmp_path: Path) -> None:
    cells = [topic(tmp_path, 5, 0), topic(tmp_path, 0, 1)]
    verdict = judge(synthetic_run("x", cells, status=Status.partial))
    assert verdict.headline == "in 1 of 2 cells the last message is missing"
    assert verdict.reasons == [f"{cells[1].id}: none of 5 messages arrived"]
    verdict = judge(synthetic_run("x", [*cells, pending(cells[0])], status=Status.partial))
    assert verdict.headline == "stopped with 1 of 3 cells measured"


def test_the_runs_of_a_point_are_one_entry_with_what_came_and_why(tmp_path: Path) -> None:
    cells = [topic(tmp_path, came, number) for number, came in enumerate((0, 0, 5))]
    why = Note(what="buffer", why="the kernel grants less", fix="sysctl")
    cells[1].notes = [why, Note(what="sched", why="was not asked for")]
    (left,) = points_left(synthetic_run("x", cells))
    assert left.point == "RustDDS, pubsub of 16 MB, UDP (sizes)"
    assert (left.key, left.state, left.runs, left.of) == (cells[0].key, "lost", 2, 3)
    assert (left.sent, left.came) == (10, 0)
    assert left.why == "none of 10 messages arrived; the kernel grants less"
    assert left.fix == "sysctl"


def test_a_point_with_runs_of_several_states_is_in_each_list(tmp_path: Path) -> None:
    cells = [topic(tmp_path, 0, 0), topic(tmp_path, 5, 1), topic(tmp_path, 5, 2)]
    cells[1:] = failed(cells[1]), pending(cells[2])
    found = {one.state: one for one in points_left(synthetic_run("x", cells))}
    assert {state: one.runs for state, one in found.items()} == {
        "lost": 1, "failed": 1, "waiting": 1,
    }  # fmt: skip
    assert found["failed"].fix == "fix the stack"
    assert [part.state for part in parts(list(found.values()))] == ["waiting", "failed", "lost"]


def test_a_list_names_the_first_points_and_counts_the_others(tmp_path: Path) -> None:
    cells = [pending(topic(tmp_path, 5, 0, depth=depth + 1)) for depth in range(SHOWN + 3)]
    (part,) = parts(points_left(synthetic_run("x", cells)))
    assert [one.key for one in part.points] == [one.key for one in cells[:SHOWN]]
    assert part.more == 3
    (short,) = parts(points_left(synthetic_run("x", cells[:SHOWN])))
    assert short.more == 0


def of_kernel(folder: Path, granted: str) -> System:
    file = folder / buffers.GRANTED.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(granted)
    return System(folder)


def test_messages_larger_than_what_the_kernel_grants_a_socket_are_named(tmp_path: Path) -> None:
    note = buffers.too_small(topic(tmp_path, 3), of_kernel(tmp_path, f"{4 * MIB}\n"))
    assert note is not None
    assert f"{16 * MIB} bytes" in note.why
    assert f"a socket {4 * MIB} " in note.why
    assert "RustDDS retransmits" in note.why
    assert note.fix is not None
    assert int(note.fix.rpartition("=")[2]) >= 2 * 16 * MIB
    other = buffers.too_small(topic(tmp_path, 3, stack="cyclonedds"), System(tmp_path))
    assert other is not None
    assert "RustDDS" not in other.why


@pytest.mark.parametrize(
    ("changes", "granted"),
    [
        ({"came": 5}, "4194304"),  # nothing was lost
        ({"came": 3, "transport": "shm"}, "4194304"),
        ({"came": 3, "payload_bytes": 4 * MIB}, "4194304"),
        ({"came": 3, "host": "here,robot"}, "4194304"),  # another machine's kernel
        ({"came": 3}, "unreadable"),
    ],
)
def test_other_losses_are_not_blamed_on_the_kernel(
    tmp_path: Path, changes: dict[str, Any], granted: str
) -> None:
    assert buffers.too_small(topic(tmp_path, **changes), of_kernel(tmp_path, granted)) is None
