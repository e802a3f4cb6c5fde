# SPDX-License-Identifier: Apache-2.0
"""``./takt test --coverage``: what counts as executed, and where the figure goes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from setup import covered
from setup.covered import CoverageError, Figure
from setup.distributions import ROOT

HEADER = """template <class T>
T half(T number) {
  if (number < 0) {
    return -half(-number);
  }
  return number / 2;
}
"""
MAIN = """#include "half.hpp"
int unused(int number) {
  return number;
}
int main(int count, char**) {
  if (count > 1) {
    return 2;
  }
  return half(1) + static_cast<int>(half(0.5));
}
"""
NEVER = "int never() {\n  return 1;\n}\n"
DECLARATION = "| a | b |\n| tests | GoogleTest. Coverage: not measured |\n| linters | none |\n"


def test_lines_of_all_objects_are_counted_once_and_those_that_never_ran_too(tmp_path: Path) -> None:
    root, build = tmp_path / "package", tmp_path / "build"
    source = root / "src"
    for folder in (source, build):
        folder.mkdir(parents=True)
    for name, text in (("half.hpp", HEADER), ("main.cpp", MAIN), ("never.cpp", NEVER)):
        (source / name).write_text(text)
    for name in ("main", "never"):
        words = ["-O0", "--coverage", "-c", str(source / f"{name}.cpp"), "-o", f"{name}.o"]
        subprocess.run(["g++", *words], cwd=build, check=True)
    subprocess.run(["g++", "--coverage", "main.o", "-o", "main"], cwd=build, check=True)
    subprocess.run(["./main"], cwd=build, check=True)
    figure = covered.counted(build, root)
    # half.hpp: its lines 2, 3 and 6 for both types, but not 4; main.cpp: 5, 6 and 9 of main().
    assert (figure.executed, figure.lines) == (6, 12)
    assert (figure.taken, figure.branches) == (1, 2)


def test_tests_of_every_configured_folder_are_built(tmp_path: Path) -> None:
    for folder in ("test", "test/timing", "examples", "bench", "test/data"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        if folder != "test/data":
            (tmp_path / folder / "cmake_install.cmake").touch()
    assert covered.targets(tmp_path) == ["examples/all", "test/all", "test/timing/all"]


def test_without_a_line_there_is_no_figure(tmp_path: Path) -> None:
    with pytest.raises(CoverageError, match=r"no line of .* must be GCC"):
        covered.counted(tmp_path, tmp_path)


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Figure | None]:
    """Counts what these files of tests execute of a package with two functions."""
    package, tests = tmp_path / "toy", tmp_path / "tests"
    package.mkdir()
    tests.mkdir()
    (package / "__init__.py").write_text(
        "def here(yes=True):\n    if yes:\n        return 1\n    return 0\n\n\n"
        "def there():\n    return 2\n\n\n"
        "def nowhere():\n    return 3\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    plugins = ["-p", "pytest_cov", "-p", "xdist"]

    def count(**texts: str) -> Figure | None:
        commands = []
        for name, text in texts.items():
            (tests / f"test_{name}.py").write_text(text)
            command = [sys.executable, "-m", "pytest", "-q", *plugins, f"tests/test_{name}.py"]
            commands.append(command)
        return covered.with_pytest(package, tmp_path / "made", lambda: commands, tmp_path)

    return count


def test_pytest_counts_what_processes_execute_that_it_starts(
    toy: Callable[..., Figure | None],
) -> None:
    here = "import toy\n\n\ndef test_it():\n    assert toy.here()\n"
    there = (
        "import subprocess, sys\n\n\ndef test_it():\n"
        "    subprocess.run([sys.executable, '-c', 'import toy; toy.there()'], check=True)\n"
    )
    assert toy(here=here, there=there) == Figure(6, 8, 1, 2, "pytest")


def test_pytest_runs_what_failed_once_more(toy: Callable[..., Figure | None]) -> None:
    first = (
        "import pathlib\n\nimport toy\n\n\ndef test_it():\n    there = pathlib.Path('there')\n"
        "    again = there.exists()\n    there.touch()\n    assert again and toy.here()\n"
    )
    assert toy(first=first) == Figure(5, 8, 1, 2, "pytest")
    assert toy(never="def test_it():\n    assert False\n") is None


def test_the_figure_replaces_the_former_one(tmp_path: Path) -> None:
    file = tmp_path / "QUALITY_DECLARATION.md"
    file.write_text(DECLARATION)
    for figure, day in ((Figure(1, 3, 0, 0, "y"), "then"), (Figure(9999, 12345, 1, 2, "x"), "now")):
        covered.declare(file, figure.text("toy", day))
    assert file.read_text() == DECLARATION.replace(
        "not measured",
        "81.0 % of 12 345 lines and 50.0 % of 2 branches by x (`./takt test --coverage toy`, now)",
    )
    assert "branches" not in Figure(1, 3, 0, 0, "y").text("toy", "now")
    file.write_text(DECLARATION.replace("Coverage", "Figures"))
    with pytest.raises(CoverageError, match="no row 'tests'"):
        covered.declare(file, "1 %")


@pytest.mark.parametrize("package", covered.CPP)
def test_code_of_each_folder_counts_that_no_test_bench_or_program_beside_has(package: str) -> None:
    root = ROOT / "src" / package
    folders = {one.relative_to(root).parts[0] for one in root.rglob("*.cpp")}
    # What is compared, what the runner has for rclcpp, what examples and tools are.
    left_out = {"bench", "examples", "peers", "python", "rclcpp", "test", "tools"}
    assert folders <= {*covered.CODE, *left_out}


@pytest.mark.parametrize("package", [*covered.CPP, *covered.PYTHON])
def test_each_declaration_has_a_place_for_it(package: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy.md"
    shutil.copy(ROOT / "src" / package / "QUALITY_DECLARATION.md", copy)
    covered.declare(copy, "12.3 %")
    assert "Coverage: 12.3 % |" in copy.read_text()


def test_failed_tests_leave_the_declaration_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(covered, "of_cpp", lambda _: None)
    monkeypatch.setattr(covered, "declare", lambda *_: pytest.fail("written"))
    assert covered.main(["takt_core"]) == 1
    assert "no figure was written: takt_core" in capsys.readouterr().out


def test_wrong_use_measures_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(covered, "measured", lambda _: pytest.fail("measured"))
    assert covered.main(["takt_core", "no_such"]) == 2
    assert "'no_such'" in capsys.readouterr().err
    monkeypatch.setattr(covered, "STATE", tmp_path)
    assert covered.main(["takt_rclcpp"]) == 2
    assert "did not find what it needs" in capsys.readouterr().err
