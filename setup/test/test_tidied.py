# SPDX-License-Identifier: Apache-2.0
"""The stage ``tidy``: several sources are parsed as one, and each finding is still reported."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2]))
from setup import compile_commands, distributions, tidied

CHECKS = """
Checks: '-*,misc-const-correctness,misc-unused-using-decls,readability-duplicate-include,
  readability-identifier-naming'
WarningsAsErrors: '*'
HeaderFilterRegex: 'include/takt/'
CheckOptions:
  readability-identifier-naming.FunctionCase: lower_case
"""
UNCHANGED = "int twice(int given) {\n  int doubled = 2 * given;\n  return doubled;\n}\n"
CAMEL = "#include <vector>\nusing std::vector;\nint addOne(int given) { return given + 1; }\n"
OWN = "namespace {\nstruct Own {};\n}  // namespace\nvoid %s(Own* /*own*/) {}\n"

Stage = Callable[..., int]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Over a package of these sources; they are compiled together where a group is named."""
    if not (tidied.BIN / "clang-tidy").exists():
        pytest.skip("clang-tidy is not installed here")
    monkeypatch.setattr(tidied, "ROOT", tmp_path)
    monkeypatch.setattr(tidied, "STATE", tmp_path / ".takt")
    monkeypatch.setattr(tidied, "FOLDERS", {"takt_core": ["src"]})
    monkeypatch.setattr(tidied, "tracked", lambda package: sources)
    sources: list[str] = []
    (tmp_path / ".clang-tidy").write_text(CHECKS)
    folder, build = tmp_path / "src" / "takt_core", tmp_path / ".takt" / "build" / "takt_core"
    (folder / "src").mkdir(parents=True)
    (folder / "CMakeLists.txt").touch()
    build.mkdir(parents=True)

    def run(**texts: str) -> int:
        entries = []
        sources.clear()
        for name, text in texts.items():
            file = folder / "src" / f"{name}.cpp"
            file.write_text(text)
            sources.append(str(file.relative_to(tmp_path)))
            output = f"CMakeFiles/takt_core.dir/src/{name}.cpp.o"
            command = f"/usr/bin/c++ -std=c++20 -o {output} -c {file}"
            entries.append({"directory": str(build), "command": command, "file": str(file)})
        (build / "compile_commands.json").write_text(json.dumps(entries))
        return tidied.main()

    return run


def test_findings_of_all_sources_of_a_unit_have_their_file_and_line(
    stage: Stage, capfd: pytest.CaptureFixture[str]
) -> None:
    assert stage(one=UNCHANGED, other=CAMEL) == 1
    printed = capfd.readouterr().out
    assert "src/takt_core/src/one.cpp:2:3: error: variable 'doubled'" in printed
    assert "src/takt_core/src/other.cpp:2:12: error: using decl 'vector' is unused" in printed
    assert "src/takt_core/src/other.cpp:3:5: error: invalid case style" in printed
    assert "\n    3 | int addOne(int given)" in printed
    assert "2 sources, 1 units" in printed


def test_sources_that_do_not_compile_together_are_looked_at_one_by_one(
    stage: Stage, capfd: pytest.CaptureFixture[str]
) -> None:
    assert stage(one=OWN % "first", other=OWN % "second") == 0
    assert "one by one: one.cpp other.cpp" in capfd.readouterr().out


def test_a_source_that_does_not_compile_fails_it(
    stage: Stage, capfd: pytest.CaptureFixture[str]
) -> None:
    assert stage(one=OWN % "first", other="int broken() { return nothing; }\n") == 1
    assert "other.cpp:1:23: error: use of undeclared identifier" in capfd.readouterr().out


def test_sources_that_include_the_same_pass_but_not_one_that_does_so_twice(
    stage: Stage, capfd: pytest.CaptureFixture[str]
) -> None:
    assert stage(one="#include <vector>\n", other="#include <vector>\n") == 0
    assert stage(third="#include <vector>\n#include <vector>\n") == 1
    assert "third.cpp:2:1: error: duplicate include" in capfd.readouterr().out


def test_the_groups_of_takt_core_come_from_its_build() -> None:
    core = distributions.ROOT / "src" / "takt_core"
    groups = tidied.named_groups(core)
    assert all(source.exists() for source in groups)
    assert groups[core / "src" / "executor" / "monitor.cpp"] == "executor_setup"
    assert groups[core / "src" / "executor" / "crew.cpp"] == "executor_jobs"


def test_sources_that_cmake_compiles_together_have_an_entry_each_without_a_precompiled_header(
    tmp_path: Path,
) -> None:
    """A precompiled header is another compiler's, and hides that a file forgot one."""
    unity = tmp_path / "CMakeFiles" / "core.dir" / "Unity" / "unity_group_cxx.cxx"
    unity.parent.mkdir(parents=True)
    unity.write_text('/* generated */\n#include "/a/one.cpp"\n#include "/a/other.cpp"\n')
    first = "-Winvalid-pch -include /somewhere/core.dir/cmake_pch.hxx"
    kept = "-O2 -Winvalid-offsetof -include other.hpp"
    output = "CMakeFiles/core.dir/Unity/unity_group_cxx.cxx.o"
    entries = [
        ("/a/alone.cpp", f"c++ {kept} -o CMakeFiles/core.dir/alone.cpp.o -c /a/alone.cpp"),
        (str(unity), f"c++ {kept} {first} -o {output} -c {unity}"),
    ]
    as_json = [{"directory": "/b", "file": file, "command": how} for file, how in entries]
    (tmp_path / "compile_commands.json").write_text(json.dumps(as_json))
    found = list(compile_commands.entries(tmp_path))
    assert [str(one.source) for one in found] == ["/a/alone.cpp", "/a/one.cpp", "/a/other.cpp"]
    assert {one.target for one in found} == {"CMakeFiles/core"}
    assert len({one.output for one in found}) == 3
    for one in found:
        assert one.command == f"c++ {kept} -o {one.output} -c {one.source}"
