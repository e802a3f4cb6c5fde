# SPDX-License-Identifier: Apache-2.0
"""The house of the tool: two flows, what both stand on, and arrows that only point down."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parent.parent / "takt"
EXPERIMENTS = TOOL.parent / "experiments"
FLOWS = ("measure", "schedule")
# The lowest first; rooms of one floor do not know each other.
FLOORS = (
    {"errors"},
    {"plugins"},
    {"documents", "statistics"},
    {"machine"},
    {"processes", "pages", "doctor", "tune"},
    {"network"},
    {"measure", "schedule"},
    {"judge"},
    {"bench"},
    {"cli"},
    {"reference", "__main__"},
    {"lab", "reproduce"},
)
PLUG_INS = {"lab", "reproduce"}
MOST_ROOMS = 17


def imported(source: str) -> Iterator[str]:
    """The dotted names of the tool that a module imports, the late imports too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.startswith("takt."))
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            if node.module == "takt":
                yield from (f"takt.{one.name}" for one in node.names if one.name != "__version__")
            elif node.module.startswith("takt."):
                yield from (f"{node.module}.{one.name}" for one in node.names)


def imported_by(file: Path) -> Iterator[str]:
    return imported(file.read_text(encoding="utf-8"))


def name_of(file: Path) -> str:
    return ".".join(("takt", *file.relative_to(TOOL).with_suffix("").parts))


def room(name: str) -> str:
    """``takt.schedule.trace.file`` stands in the room ``schedule.trace``."""
    parts = name.split(".")[1:]
    return ".".join(parts[:2]) if parts[0] in FLOWS else parts[0]


def arrows() -> dict[str, set[str]]:
    """Which rooms each room imports from."""
    found: dict[str, set[str]] = {}
    for file in sorted(TOOL.rglob("*.py")):
        here = room(name_of(file))
        if here != "__init__":
            others = {room(one) for one in imported_by(file)}
            found.setdefault(here, set()).update(others - {here})
    return found


ARROWS = arrows()


def test_the_rooms_at_the_top_can_be_counted() -> None:
    there = {one.stem for one in TOOL.iterdir() if one.suffix == ".py" or one.is_dir()}
    rooms = there - {"__init__", "__pycache__"}
    assert rooms == set.union(*FLOORS)
    assert len(rooms - PLUG_INS) <= MOST_ROOMS


def test_nothing_imports_a_plug_in() -> None:
    wrong = {here: to & (PLUG_INS - {here}) for here, to in ARROWS.items()}
    assert {here: to for here, to in wrong.items() if to} == {}


def test_a_paper_is_one_folder_that_nothing_else_imports() -> None:
    papers = {one.parent for one in (TOOL / "reproduce").glob("*[0-9]/__init__.py")}
    assert len(papers) > 1
    assert papers == {one.parent for one in (TOOL / "reproduce").rglob("published.yaml")}
    assert not {one.name for one in papers} & {one.stem for one in EXPERIMENTS.rglob("*.yaml")}
    for file in TOOL.rglob("*.py"):
        used = {TOOL.joinpath(*one.split(".")[1:3]) for one in imported_by(file)}
        assert used & papers <= set(file.parents), file


@pytest.mark.parametrize("here", sorted(ARROWS))
def test_no_room_imports_from_one_above_or_beside_it(here: str) -> None:
    floors = {name: floor for floor, names in enumerate(FLOORS) for name in names}
    floor = floors[here.split(".", maxsplit=1)[0]]
    flow = here.split(".", maxsplit=1)[0]
    wrong = [
        other
        for other in ARROWS[here]
        if floors[other.split(".")[0]] >= floor and other.split(".")[0] != flow
    ]
    assert not wrong, f"{here} imports from {', '.join(wrong)}"


def test_no_rooms_import_each_other_in_a_circle() -> None:
    try:
        list(TopologicalSorter(ARROWS).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_no_files_import_each_other_in_a_circle() -> None:
    files = {name_of(file).removesuffix(".__init__"): file for file in TOOL.rglob("*.py")}
    arrows = {
        name: {one if one in files else one.rpartition(".")[0] for one in imported_by(file)}
        for name, file in files.items()
    }
    try:
        list(TopologicalSorter({name: to - {name} for name, to in arrows.items()}).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_an_arrow_inside_a_function_is_found() -> None:
    late = "def f():\n    from takt.measure.report import html\n    import takt.cli.main\n"
    assert {room(one) for one in imported(late)} == {"measure.report", "cli"}


def test_who_starts_and_sweeps_processes_knows_nothing_of_the_network() -> None:
    assert ARROWS["processes"] <= {"documents", "errors"}
    assert "processes" in ARROWS["network"]


def test_both_flows_use_the_statistics_which_know_neither() -> None:
    users = {here.split(".")[0] for here, to in ARROWS.items() if "statistics" in to}
    assert set(FLOWS) <= users
    assert ARROWS["statistics"] == set()
