# SPDX-License-Identifier: Apache-2.0
"""Other programs on the cores of a trace: written, read again, and named for late jobs."""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import cast

import pytest
import trace_files as make
from executed import cpu, executed, robot
from explained_traces import LOW, MS, application, begin, end, explained, names
from hypothesis import given
from hypothesis import strategies as some
from perfetto_tables import query
from rich.console import Console

from takt.processes.switches import LEAST_NS, Held, Switches
from takt.schedule.execution.programs import OtherPrograms, append
from takt.schedule.explain import Explanation, explain
from takt.schedule.explain.html import render
from takt.schedule.explain.show import show
from takt.schedule.trace import file as traces
from takt.schedule.trace.file import NO_DEADLINE
from takt.schedule.trace.perfetto import PerfettoExport
from takt.schedule.trace.programs import Program, Programs


class Recorded:
    """What was recorded, made by hand."""

    def __init__(self, *held: Held, refused: str | None = None, lost: int = 0) -> None:
        self.held = sorted(held)
        self.refused = refused
        self.lost = lost
        self.left_out = 0


def late_job() -> list[bytes]:
    """Released at 0, started at 8 ms, 1 ms of execution: 4 ms late."""
    return [
        make.name("attribute", 0, "waits_from_ns=10000"),
        *begin(LOW, 0, 8 * MS, deadline=5 * MS),
        make.event(8 * MS, traces.Type.wait, LOW, 0, 8 * MS),
        end(LOW, 9 * MS, MS),
    ]


def written(folder: Path, recorded: Recorded) -> Path:
    path = make.write(folder / "made.takttrace", [*names(), application(), *late_job()])
    append(path, cast("Switches", recorded), {})
    return path


def printed(found: Explanation) -> str:
    console = Console(width=200)
    with console.capture() as captured:
        show(console, found)
    return captured.get()


def test_what_is_appended_is_read_again(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        Recorded(
            Held(1 * MS, 3 * MS, 0, 42, "a name with spaces"),
            Held(4 * MS, 9 * MS, 0, 43, "other"),
            Held(20 * MS, 30 * MS, 0, 44, "later than any response"),
            Held(2 * MS, 3 * MS, 5, 45, "on another core"),
        ),
    )
    trace = traces.read(path)
    assert len(trace.names.held) == 2
    assert trace.names.values("held_from_ns") == [str(LEAST_NS)]
    programs = Programs(trace.names)
    assert programs.within(0, 2 * MS, 5 * MS) == [
        Program("a name with spaces", 42, 1 * MS),
        Program("other", 43, 1 * MS),
    ]
    assert programs.within(0, 9 * MS, 30 * MS) == []
    assert programs.within(5, 0, 9 * MS) == []


def test_explain_names_the_program_that_had_the_core(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        Recorded(Held(-5 * MS, 6 * MS, 0, 42, "hog"), Held(6 * MS, 7 * MS, 0, -1, "unknown")),
    )
    found = explain(path)
    (late,) = found.details
    assert [(one.name, one.process, one.us) for one in late.programs] == [
        ("hog", 42, 6000),
        ("unknown", -1, 1000),
    ]
    assert found.programs == late.programs
    assert "hog (process 42) 6.000 ms, unknown 1.000 ms" in printed(found)
    assert "hog (process 42) 6.000 ms" in render(found)


def test_many_programs_are_three_and_the_others(tmp_path: Path) -> None:
    held = [Held(i * MS, (i + 1) * MS, 0, 40 + i, f"p{i}") for i in range(5)]
    text = printed(explain(written(tmp_path, Recorded(*held))))
    assert "p0 (process 40) 1.000 ms" in text
    assert "2 others 2.000 ms" in text
    assert "p4" not in text


@pytest.mark.parametrize(
    ("recorded", "words"),
    [
        (Recorded(refused="perf_event_open: Permission denied"), "execute or record as root"),
        (Recorded(lost=7), "7 context switches were not recorded"),
    ],
)
def test_what_was_not_recorded_is_said(tmp_path: Path, recorded: Recorded, words: str) -> None:
    found = explain(written(tmp_path, recorded))
    assert any(words in one for one in found.remarks)
    assert found.details[0].programs == []


def test_a_trace_without_a_record_says_nothing(tmp_path: Path) -> None:
    found = explained(tmp_path, application(), late_job())
    assert found.programs == []
    assert not any("other programs" in one for one in found.remarks)


@pytest.mark.parametrize(
    "text",
    [
        *("", "0", "0 2 3 4", "x y z 4 name", "0 2 three 4 name", "0 7000000 1000 4 backwards"),
        f"0 1 {1 << 70} 4 late",
        f"0 {'9' * 5000} 1 4 long",
    ],
)
def test_a_damaged_stretch_is_left_out(tmp_path: Path, text: str) -> None:
    path = make.write(
        tmp_path / "made.takttrace",
        [*names(), make.name("attribute", 0, f"held={text}"), *late_job()],
    )
    found = [one for one in explain(path).details[0].programs if one.name]
    assert found == []


def test_a_trace_without_events_is_appended_to(tmp_path: Path) -> None:
    path = make.write(tmp_path / "made.takttrace", names())
    append(path, cast("Switches", Recorded(Held(1, 2 * LEAST_NS, 0, 1, "any"))), {})
    assert traces.read(path).names.held == []


def test_a_name_is_shown_as_text_whatever_is_in_it(tmp_path: Path) -> None:
    path = written(tmp_path, Recorded(Held(1 * MS, 2 * MS, 0, 42, "\x1b[2Jgone [red]")))
    text = printed(explain(path))
    assert "\x1b" not in text
    assert r"'\x1b[2Jgone [red]' (process 42)" in text


def test_perfetto_shows_them_by_core(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        Recorded(Held(-1 * MS, 3 * MS, 0, 42, "hog"), Held(4 * MS, 5 * MS, 0, -1, "unknown")),
    )
    out = tmp_path / "made.pftrace"
    trace = traces.read(path)
    export = PerfettoExport(trace, out)
    traces.replay(trace, [export])
    export.close()
    rows = query(
        out,
        "select s.name, ts, dur, value from slice s join track t on t.id = track_id "
        "join track g on g.id = t.parent_id left join args on slice_id = s.id "
        "where g.name = 'other programs' order by ts",
    )
    assert rows == [("hog", 0, 3 * MS, "42"), ("unknown", 4 * MS, MS, "-1")]


jobs = some.lists(
    some.tuples(some.integers(0, 60), some.integers(0, 30), some.integers(0, 20), some.booleans()),
    max_size=3,
)
stretches = some.lists(some.tuples(some.integers(0, 15), some.integers(1, 15)), max_size=12)


@given(jobs=jobs, stretches=stretches)
def test_stretches_are_kept_where_a_response_was_owed(
    jobs: list[tuple[int, int, int, bool]], stretches: list[tuple[int, int]]
) -> None:
    """Against the definition, for jobs that start late, never start, or do not end."""
    records: list[bytes] = []
    owed: list[tuple[int, float]] = []
    for task, (release, wait, length, ends) in enumerate(jobs):
        records.append(make.event(release, traces.Type.release, task, 0, NO_DEADLINE))
        if ends:
            done = release + wait + length
            records.append(make.event(release + wait, traces.Type.start, task, 0, 10))
            records.append(end(task, done, length))
            owed.append((release, done))
        else:
            owed.append((release, float("inf")))
    held, at = [], 0
    for gap, length in stretches:
        held.append(Held(at + gap, at + gap + length, 0, 1, "any"))
        at += gap + length
    with tempfile.TemporaryDirectory() as folder:
        path = make.write(Path(folder) / "made.takttrace", [*names(), *records])
        append(path, cast("Switches", Recorded(*held)), {})
        found = traces.read(path).names.held
    expected = [
        f"0 {one.begin} {one.end} 1 any"
        for one in held
        if any(release < one.end and one.begin < done for release, done in owed)
    ]
    assert found == expected


def test_execute_records_them_or_says_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own: set[int] = set()  # executors of other tests may run beside, and are others
    look = OtherPrograms.look

    def noted(recorder: OtherPrograms, processes: Collection[int]) -> None:
        own.update(processes)
        look(recorder, processes)

    monkeypatch.setattr(OtherPrograms, "look", noted)
    execution = executed(tmp_path, "takt", robot())
    assert own
    recorded = traces.read(execution.trace).names
    if refused := recorded.values("held_refused"):
        assert refused[0].startswith("perf_event_open: ")
        return
    assert recorded.values("held_from_ns") == [str(LEAST_NS)]
    for text in recorded.held:
        core, begin_ns, end_ns, process, name = text.split(" ", 4)
        assert int(core) == cpu()
        assert int(end_ns) - int(begin_ns) >= LEAST_NS
        assert not name.startswith("app_runner")
        assert not (int(process) in own and name.startswith("takt."))
