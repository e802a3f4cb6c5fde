# SPDX-License-Identifier: Apache-2.0
"""Several reproductions on one page, as folders and as bundles that are shared."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from rendering import none_rendered
from synthetic_ye import NATIVE, REALTIME, Sizes

from takt.errors import TaktError
from takt.machine.system import System
from takt.measure.history.store import History, find
from takt.measure.results import bundle, store
from takt.reproduce import page, set_beside, ye2023
from takt.reproduce.beside.differences import compared
from takt.reproduce.beside.model import Beside
from takt.reproduce.beside.sides import _names
from takt.reproduce.model import Finding, Outcome, Request

LABELS = {"sizes", "six", "wakeup", "jitter"}


class Kernel(System):
    """A machine of which nothing is known."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.__dict__["kernel_config"] = {}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reproductions under two kernels, made of the paper's numbers."""
    comparison = Sizes(tmp_path_factory.mktemp("kernels"))
    folders = {}
    for kernel in (NATIVE, REALTIME):
        measured = comparison.measured("paper", kernel, LABELS)
        machine = {"preemption": kernel, "kernel": f"6.1.0-{kernel[8:10].lower()}",
                   "cpu_model": "Example CPU"}  # fmt: skip
        run = measured.run.model_copy(update={"machine": machine})
        store.write(run, measured.folder)
        with none_rendered():
            found = ye2023.answers(run, measured.folder, Request(draws=50), Kernel(measured.folder))
        page.keep(found)
        folders[kernel] = measured.folder
    return folders


@pytest.fixture(scope="module")
def comparison(runs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Beside:
    with none_rendered():
        return set_beside("ye2023", list(runs.values()), tmp_path_factory.mktemp("beside"))


def test_statements_that_take_two_kernels_are_decided(comparison: Beside) -> None:
    assert {one.id: one.holds for one in comparison.findings} == dict.fromkeys(
        ("rt-wakeups-lower", "rt-ros2-faster", "rt-ros1-faster", "rt-fluctuates-less",
         "rt-six-faster", "rt-jitter-lower"), True,
    )  # fmt: skip
    decided = {one.id for one in comparison.findings}
    assert len(comparison.statements) == 7
    assert all(one.beside in decided for one in comparison.statements)


def test_a_run_is_named_by_what_distinguishes_it_from_the_others(comparison: Beside) -> None:
    assert [one.name for one in comparison.sides] == [NATIVE, REALTIME]
    same = {"preemption": NATIVE, "kernel": "6.1", "cpu": "a"}
    assert _names([same, {**same, "cpu": "b"}]) == ["a", "b"]
    assert _names([same, same]) == ["run 1", "run 2"]


def test_both_kernels_have_their_curves_in_one_picture(comparison: Beside) -> None:
    assert {one.figure for one in comparison.figures} == {"12", "13", "14", "30"}


def test_the_page_names_every_run_and_decides_every_statement(comparison: Beside) -> None:
    text = (Path(comparison.results) / "beside.html").read_text(encoding="utf-8")
    for said in (NATIVE, REALTIME, "rt-fluctuates-less", "not asked", "Example CPU"):
        assert said in text
    for one in comparison.statements:
        assert one.claim[1:14] in text.replace("&#39;", "'")
    kept = json.loads((Path(comparison.results) / "beside.json").read_text(encoding="utf-8"))
    assert Beside.model_validate(kept) == comparison


def outcome(holds: bool, low: float) -> Outcome:
    found = Finding(id="first", stack="rcl", claim="A claim", at="1", published={},
                    measured={"p50_us": low + 1}, holds=holds, criterion="p50_us > 1",
                    intervals={"p50_us": (low, low + 2)})  # fmt: skip
    return Outcome(paper="ye2023", title="", scale=1.0, complete=True, findings=[found], tables=[],
                   figures=[], results="")  # fmt: skip


@pytest.mark.parametrize(
    ("other", "apart", "differing"),
    [(outcome(True, 1.5), False, []), (outcome(True, 9.0), False, ["p50_us"]),
     (outcome(False, 9.0), True, ["p50_us"])],
)  # fmt: skip
def test_what_differs_has_intervals_that_do_not_overlap(
    other: Outcome, apart: bool, differing: list[str]
) -> None:
    (one,) = compared([("a", outcome(True, 1.0)), ("b", other)])
    assert (one.apart, one.differing) == (apart, differing)


def test_one_kernel_alone_leaves_them_undecided(runs: dict[str, Path], tmp_path: Path) -> None:
    other = copied(runs[NATIVE], tmp_path / "other")
    page.keep(page.read(runs[NATIVE]).model_copy(update={"scale": 0.5, "results": str(other)}))
    with none_rendered():
        found = set_beside("ye2023", [runs[NATIVE], other], tmp_path / "out")
    assert {one.holds for one in found.findings} == {None}
    assert all("a run with PREEMPT_RT" in one.needs for one in found.findings)


def test_a_run_is_not_beside_itself(runs: dict[str, Path], tmp_path: Path) -> None:
    same = bundle.write(runs[NATIVE], tmp_path / "same.zip")
    with pytest.raises(TaktError, match=f"the same run as {runs[NATIVE]}") as error:
        set_beside("ye2023", [runs[NATIVE], same], tmp_path / "out")
    assert error.value.where == str(same)
    assert not (tmp_path / "out").exists()


def test_a_bundle_stands_for_its_folder(runs: dict[str, Path], tmp_path: Path) -> None:
    files = [bundle.write(folder, tmp_path / f"{name}.zip") for name, folder in runs.items()]
    with none_rendered():
        found = set_beside("ye2023", files, tmp_path / "out")
    assert {one.holds for one in found.findings} == {True}
    assert [one.run for one in found.sides] == list(map(str, files))


def test_the_history_takes_bundles_of_several_machines(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    for name, folder in runs.items():
        bundle.write(folder, tmp_path / f"{name}.zip")
    found = find([tmp_path / f"{name}.zip" for name in runs])
    with History(tmp_path / "h.sqlite") as history:
        for one in found:
            with bundle.opened(one) as place:
                started = [
                    cell.model_copy(update={"started": store.read(place).started})
                    for cell in store.read(place).cells
                ]
                run = store.read(place).model_copy(update={"cells": started})
                assert history.add(run, place, one) > 0
                assert history.add(run, place, one) == 0
        there = history.configurations()
        assert len({one.machine for one in there}) == 2
        assert {entry.run for one in there for entry in history.entries(one)} == set(
            map(str, found)
        )


def copied(folder: Path, place: Path, **machine: str) -> Path:
    """The timers of a run as a stick has them: measured, and not judged yet."""
    ignored = shutil.ignore_patterns(page.DOCUMENT, page.PAGE, "figures")
    shutil.copytree(folder, place, ignore=ignored)
    run = store.read(place)
    cells = [one for one in run.cells if one.label == "jitter"]
    update = {"machine": run.machine | machine, "cells": cells}
    store.write(run.model_copy(update=update), place)
    return place


def test_a_run_of_a_stick_is_judged_and_stands_beside_others(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    stick = copied(runs[REALTIME], tmp_path / "stick")
    with none_rendered():
        found = set_beside("ye2023", [runs[NATIVE], stick], tmp_path / "out")
    assert [one.id for one in found.findings if one.holds] == ["rt-jitter-lower"]
    judged, there = page.read(stick), page.read(runs[REALTIME])
    assert judged.scale == 1.0
    holds = {one.id: one.holds for one in judged.findings if one.stack == "raw"}
    assert holds == {one.id: one.holds for one in there.findings if one.stack == "raw"}


def test_figures_that_no_run_has_measured_are_not_drawn(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    timers = [copied(runs[kernel], tmp_path / kernel) for kernel in (NATIVE, REALTIME)]
    for folder in timers:
        empty = Outcome(paper="ye2023", title="", scale=1.0, complete=True, findings=[], tables=[],
                       figures=[], results=str(folder))  # fmt: skip
        page.keep(empty)
    found = set_beside("ye2023", timers, tmp_path / "out")
    assert found.figures == []
    assert [one.id for one in found.findings if one.holds] == ["rt-jitter-lower"]


def test_a_run_of_another_experiment_is_no_reproduction(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    other = copied(runs[REALTIME], tmp_path / "other")
    store.write(store.read(other).model_copy(update={"name": "mine"}), other)
    with pytest.raises(TaktError, match="no reproduction here") as error:
        set_beside("ye2023", [runs[NATIVE], other], tmp_path / "out")
    assert "from a stick" in str(error.value.fix)


def test_times_of_a_guest_do_not_stand_beside_times_of_a_machine(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    guest = copied(runs[REALTIME], tmp_path / "guest", time="instruction time, one virtual CPU")
    with none_rendered(), pytest.raises(TaktError, match="they do not compare"):
        set_beside("ye2023", [runs[NATIVE], guest], tmp_path / "out")


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="no reproduction"):
        set_beside("ye2023", [tmp_path, tmp_path], tmp_path / "out")
    with pytest.raises(TaktError, match="nothing beside it"):
        set_beside("ye2023", [tmp_path], tmp_path / "out")
