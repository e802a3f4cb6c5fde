# SPDX-License-Identifier: Apache-2.0
"""CPU time of other programs during a cell: what counts, and where it is shown."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from synthetic_runs import CHECK, write_run

from takt.cli import session
from takt.measure.check.show import show
from takt.measure.check.verdict import judge
from takt.measure.report import html
from takt.measure.report.model import build
from takt.measure.results.disturbed import sentence
from takt.measure.results.model import Run
from takt.processes import others
from takt.processes.others import Others

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
SPINS = """
import os, sys, time
if len(sys.argv) > 2 and os.fork():
    os._exit(0)
end = float(sys.argv[1])
while time.process_time() < end:
    pass
print(time.process_time(), flush=True)
sys.stdin.read()
"""


class Clocks:
    """A machine with so many CPUs: what is idle and stolen, what is the tool's own, in seconds."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, cpus: int) -> None:
        self.folder, self.cpus = folder, cpus
        self.now = self.idle = self.stolen = self.own = 0.0
        patch.setattr(others, "PROC", folder)
        patch.setattr(others.time, "monotonic", lambda: self.now)
        patch.setattr(others, "own_s", lambda: self.own)
        self.passes()

    def passes(
        self, elapsed: float = 0.0, used: float = 0.0, own: float = 0.0, stolen: float = 0.0
    ) -> None:
        """So much time, in which programs used so much, the tool's own among them."""
        self.now += elapsed
        self.own += own
        self.stolen += stolen
        self.idle += elapsed * self.cpus - used - stolen
        numbers = f"1 2 3 {self.idle / TICK_S:.0f} 0 0 0 {self.stolen / TICK_S:.0f} 0 0"
        lines = [f"cpu  {numbers}", *(f"cpu{cpu} 0" for cpu in range(self.cpus)), "intr 5"]
        (self.folder / "stat").write_text("\n".join(lines))


@pytest.mark.parametrize(
    ("cpus", "used", "own", "stolen", "seconds", "disturbed"),
    [
        (2, 1.0, 1.0, 0.0, 0.0, False),  # the measurement itself
        (2, 15.0, 15.0, 0.0, 0.0, False),  # and its load
        (2, 1.5, 1.0, 0.0, 0.5, False),
        (2, 2.5, 1.0, 0.0, 1.5, True),
        (2, 1.0, 1.0, 5.0, 0.0, False),  # stolen time is another quantity
        (2, 0.5, 0.6, 0.0, 0.0, False),  # clocks of different steps
        (8, 4.5, 1.0, 0.0, 3.5, False),
        (8, 5.5, 1.0, 0.0, 4.5, True),
        (256, 10.0, 1.0, 0.0, 9.0, False),
        (256, 12.0, 1.0, 0.0, 11.0, True),  # more than one CPU
    ],
)
def test_what_others_take_is_what_is_neither_idle_nor_stolen_nor_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cpus: int, used: float, own: float,
    stolen: float, seconds: float, disturbed: bool,
) -> None:  # fmt: skip
    clocks = Clocks(tmp_path, monkeypatch, cpus)
    clocks.passes(100.0, 50.0, 3.0)  # before
    watched = Others()
    clocks.passes(10.0, used, own, stolen)
    taken = watched.taken()
    assert taken.seconds == pytest.approx(seconds, abs=3 * TICK_S)
    assert taken.much == disturbed


@pytest.mark.parametrize(
    ("cpus", "used", "own", "stolen", "disturbed"),
    [
        (2, 10.0, 10.0, 0.0, False),  # the measurement itself
        (2, 1.35, 1.0, 0.0, False),
        (2, 1.45, 1.0, 0.0, True),  # more than 2 % of 20 s
        (2, 1.0, 1.0, 0.35, False),
        (2, 1.0, 1.0, 0.45, True),  # stolen time alone
        (2, 1.25, 1.0, 0.2, True),  # both together
        (256, 2.95, 1.0, 0.0, False),
        (256, 3.05, 1.0, 0.0, True),  # more than a fifth of one CPU
    ],
)
def test_a_machine_that_was_declared_idle_has_a_limit_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cpus: int, used: float, own: float,
    stolen: float, disturbed: bool,
) -> None:  # fmt: skip
    clocks = Clocks(tmp_path, monkeypatch, cpus)
    usual, idle = Others(), Others(others.IDLE)
    clocks.passes(10.0, used, own, stolen)
    assert idle.taken().much is disturbed
    assert not usual.taken().much  # whose limits are far above
    assert idle.taken().seconds == usual.taken().seconds


@pytest.mark.parametrize("read_after", [0.0, 0.5, 1.5, 3.0])
def test_an_answer_that_comes_late_counts_from_when_it_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_after: float
) -> None:
    clocks = Clocks(tmp_path, monkeypatch, cpus=2)
    spent = 0.0

    def late() -> tuple[float, float]:
        # All CPUs are busy with what is ours: a worker reads its time, and answers 3 s later.
        clocks.passes(read_after, 2 * read_after)
        answer = spent + 2 * read_after, clocks.now
        clocks.passes(3.0 - read_after, 2 * (3.0 - read_after))
        return answer

    watched = Others(ours=lambda: (0.0, None))
    clocks.passes(10.0, 20.0)
    spent = 20.0 - 0.25  # a little is of others
    watched._ours = late
    taken = watched.taken()
    assert taken.seconds == pytest.approx(0.25, abs=3 * TICK_S)
    assert not taken.much


@pytest.fixture
def spinning() -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for one in started:
        one.communicate()


def test_a_real_program_of_another_family_counts(spinning: list[subprocess.Popen[str]]) -> None:
    watched = Others()
    spinning.append(spin(0.3, "of another family"))
    used = float((spinning[0].stdout or StringIO()).readline())
    assert watched.taken().seconds >= used - 5 * TICK_S


@pytest.mark.parametrize("waited", [False, True])
def test_the_own_family_is_known_while_it_lives_and_afterwards(waited: bool) -> None:
    before = others.own_s()
    child = spin(0.3)
    used = float((child.stdout or StringIO()).readline())
    if waited:
        child.communicate()
    assert others.own_s() - before >= used - 5 * TICK_S
    child.communicate()


def spin(seconds: float, *more: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-IS", "-c", SPINS, str(seconds), *more]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


# where it is shown


@pytest.fixture
def disturbed(tmp_path: Path) -> Run:
    """Other programs took 80 % of a CPU during a third of the cells."""
    run = write_run(tmp_path, CHECK[:2], count=2500)
    for cell in run.cells:
        if cell.repetition == 0:
            cell.others_seconds, cell.disturbed = 0.8 * cell.seconds, True
    return run


def test_a_sentence_says_how_many_and_how_much(disturbed: Run) -> None:
    said = sentence(disturbed.cells) or ""
    assert f"during 2 of {len(disturbed.cells)} measurements" in said
    assert "(80% of one CPU)" in said
    for cell in disturbed.cells:
        cell.disturbed = False
    assert sentence(disturbed.cells) is None


def test_the_verdict_names_it_and_stays_the_same(disturbed: Run, tmp_path: Path) -> None:
    verdict = judge(disturbed)
    assert any(one.startswith("Disturbed: other programs took") for one in verdict.reasons)
    disturbed.verdict = verdict
    out = StringIO()
    console = Console(file=out, width=100, highlight=False, color_system=None)
    show(console, disturbed, tmp_path, "1", [])
    assert "(~): other programs took much CPU time" in " ".join(out.getvalue().split())
    for cell in disturbed.cells:
        cell.disturbed = False
    assert judge(disturbed).level == verdict.level
    assert not any("Disturbed" in one for one in judge(disturbed).reasons)


def test_json_and_terminal_mark_the_cells(
    disturbed: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = session.document(disturbed, tmp_path)
    assert sum(one["disturbed"] for one in document["cells"]) == 2
    assert {one["disturbed"] for one in document["rows"]} == {1}
    assert all(one["others_seconds"] is not None for one in document["cells"])
    session._show(disturbed, tmp_path, [])
    out = capsys.readouterr().out
    assert "disturbed" in out.partition("Each row")[0]
    assert "1 of 3" in out
    assert "Disturbed: other programs took" in out


def test_the_page_marks_the_cells(disturbed: Run, tmp_path: Path) -> None:
    page = html.render(build(tmp_path, disturbed))
    assert "1 of 3 repetitions disturbed" in page
    assert page.count("complete, disturbed") == 2
    assert page.count('data-field="others_seconds"') == len(disturbed.cells) + 2
