# SPDX-License-Identifier: Apache-2.0
"""The stage ``gcc14`` and the matrix: what other compilers compile, and what is told where not."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2]))
from setup import compiled, compilers, unpacked

OWN = compilers.Wanted("gcc", 12)
LIBRARY = """
#include <iomanip>
#include <string>
std::string {name}(std::string_view text) {{ return "'" + std::string{{text}} + "'"; }}
std::string both(const std::string& text) {{ return {name}(text) + {name}(text); }}
"""
TEST = """
extern "C" int puts(const char*);
int main() {{ puts("it ran"); return {code}; }}
"""


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The stage over a source tree of two files, with this machine's own compiler."""
    monkeypatch.setattr(compiled, "ROOT", tmp_path)
    monkeypatch.setattr(compiled, "STATE", tmp_path / ".takt" / "matrix")
    monkeypatch.setattr(compiled, "BUILD", tmp_path / ".takt" / "build")
    monkeypatch.setattr(compiled, "PACKAGES", ("takt_core",))
    monkeypatch.setattr(compiled, "OF_LIBRARIES", (".",))
    monkeypatch.setattr(compiled, "RUN", ("stats",))
    monkeypatch.setattr(compiled, "LIBRARIES", ())
    monkeypatch.setattr(compilers, "major", lambda _: 12)
    monkeypatch.setattr(compilers, "compiler", lambda *_: compilers.Compiler(OWN))
    write(tmp_path)
    return compiled


def write(root: Path, name: str = "in_quotes", code: int = 0) -> None:
    """Sources, and what a build says of them; its own compiler's headers among it."""
    sources = {
        "library.cpp": LIBRARY.format(name=name),
        "test.cpp": TEST.format(code=code),
        "ros1.cpp": "#include <of/another/system.hpp>\n",
    }
    targets = {"library.cpp": "takt_core", "test.cpp": "takt_core_stats_test", "ros1.cpp": "ros1"}
    (root / "src").mkdir(exist_ok=True)
    build = root / ".takt" / "build" / "takt_core"
    build.mkdir(parents=True, exist_ok=True)
    (build / "cmake_pch.hxx").write_text("#include <vector>\n")
    (build / "cmake_pch.hxx.gch").write_text("another compiler's")
    entries = []
    for file, text in sources.items():
        (root / "src" / file).write_text(text)
        target = f"CMakeFiles/{targets[file]}.dir/{file}.o"
        options = f"-O2 -std=gnu++20 -Winvalid-pch -include {build}/cmake_pch.hxx"
        command = f"/usr/bin/c++ {options} -o {target} -c {root}/src/{file}"
        entries.append({"directory": str(build), "command": command, "file": f"{root}/src/{file}"})
    (build / "compile_commands.json").write_text(json.dumps(entries))


def test_what_compiles_is_linked_and_run(stage: Any, capfd: pytest.CaptureFixture[str]) -> None:
    assert stage.main() == 0
    printed = capfd.readouterr().out
    assert "left out: ros1.cpp" in printed
    assert "2 files compiled, 0 do not compile, 0 warnings" in printed
    assert "it ran" in printed


def test_a_name_that_the_standard_library_has_too_fails_it_with_file_and_line(
    stage: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, name="quoted")
    assert stage.main() == 1
    printed = capfd.readouterr().out
    assert "1 do not compile" in printed
    assert f"{tmp_path}/src/library.cpp:5:" in printed.replace("../../../src", f"{tmp_path}/src")
    assert "it ran" not in printed


def test_a_test_that_fails_fails_it(
    stage: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, code=3)
    assert stage.main() == 1
    assert "the tests of stats fail" in capfd.readouterr().out


def test_a_warning_fails_it(stage: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "src" / "test.cpp").write_text(f"#warning old\n{TEST.format(code=0)}")
    assert stage.main() == 1
    printed = capfd.readouterr().out
    assert "0 do not compile, 1 warnings" in printed
    assert f"{tmp_path}/src/test.cpp:1:" in printed
    assert "it ran" in printed


def test_beside_the_libraries_as_much_is_compiled_as_is_asked_for(
    stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stage, "OF_LIBRARIES", ("core/src",))
    database = tmp_path / ".takt" / "build" / "takt_core" / "compile_commands.json"
    entries = json.loads(database.read_text())
    folders = ("src", "tools", "test")
    for folder in folders:
        file = tmp_path / "src" / "core" / folder / "other.cpp"
        file.parent.mkdir(parents=True)
        file.write_text("no C++\n")
        command = f"c++ -std=gnu++20 -o CMakeFiles/{folder}.dir/other.cpp.o -c {file}"
        entries.append({"directory": str(tmp_path), "command": command, "file": str(file)})
    database.write_text(json.dumps(entries))

    def wrong(extent: str) -> list[str]:
        assert stage.tried(OWN, tmp_path / "made", stage.RUN, extent).wrong > 0
        printed = capfd.readouterr().out
        return [one for one in folders if f"core/{one}/other.cpp:1:" in printed]

    assert wrong("libraries") == ["src"]
    assert wrong("what users build") == ["src", "tools"]
    assert wrong("all") == ["src", "tools", "test"]
    assert stage.main() == 1
    assert (
        "left out: 2 files beside libraries; --tests compiles them, too" in capfd.readouterr().out
    )


def test_a_compiler_that_does_not_end_fails_it(
    stage: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stage, "version", lambda _: "GCC")
    monkeypatch.setattr(stage, "precompile", lambda *_: ({}, []))
    monkeypatch.setattr(unpacked, "CALL_S", 0.0)
    assert stage.main() == 1
    assert "2 do not compile" in capfd.readouterr().out


def test_a_compiler_that_does_not_start_fails_it_and_says_what_it_said(
    stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    compiler = compilers.Compiler(OWN, tmp_path)
    path = tmp_path / "started" / "c++"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\necho no loader there >&2; exit 127\n")
    path.chmod(0o755)
    monkeypatch.setattr(compilers, "compiler", lambda *_: compiler)
    assert stage.main() == 1
    printed = capfd.readouterr().err
    assert "no loader there" in printed
    assert "fix:" in printed


def test_a_header_that_is_precompiled_for_others_is_still_forgotten(
    stage: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = '#include "own.hpp"\n#include <map>\n#include <string>\nstd::map<int, std::string> in;\n'
    (tmp_path / "src" / "own.hpp").write_text("#include <string>\n")
    forgetful = text.replace("#include <map>\n", "")
    sources = {f"{i}.cpp": text for i in range(8)} | {f"{i}.cpp": forgetful for i in range(8, 12)}
    database = tmp_path / ".takt" / "build" / "takt_core" / "compile_commands.json"
    entries = json.loads(database.read_text())
    for name, content in sources.items():
        file = tmp_path / "src" / name
        file.write_text(content)
        strict = " -Wpedantic -DNDEBUG" if int(file.stem) % 2 else ""  # other macros
        command = f"c++ -std=gnu++20{strict} -o CMakeFiles/x.dir/{name}.o -c {file}"
        entries.append({"directory": str(tmp_path), "command": command, "file": str(file)})
    database.write_text(json.dumps(entries))
    assert stage.main() == 1
    printed = capfd.readouterr().out
    assert "headers precompiled for 1" in printed  # for 12 to 14 files
    assert "4 do not compile, 0 warnings" in printed


def test_where_nothing_was_built_it_says_what_to_do(
    stage: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(tmp_path / ".takt" / "build")
    assert stage.main() == 1
    assert "build first" in capfd.readouterr().err


def programs(folder: Path, texts: dict[str, str]) -> str:
    """A search path on which these come first."""
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.mark.parametrize(
    ("texts", "printed"),
    [
        ({"g++": "echo 15.1.0"}, "left out: the build itself has GCC 15"),
        ({"apt-get": "true"}, "left out: this is no Debian"),
    ],
)
def test_where_it_cannot_be_had_it_is_left_out_and_says_why(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    texts: dict[str, str],
    printed: str,
) -> None:
    scripts = {"g++": "echo 12.2.0", "dpkg-deb": "true"} | texts
    monkeypatch.setenv("PATH", programs(tmp_path / "bin", scripts))
    monkeypatch.setattr(unpacked, "KEYS", Path(sys.executable))
    monkeypatch.setattr(compiled, "STATE", tmp_path / "state")
    assert compiled.main() == 0
    assert printed in capfd.readouterr().out
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("family", ["gcc", "clang"])
def test_the_machines_own_is_taken_where_it_has_the_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    own = {"g++": "echo 12.2.0", "clang++-12": "echo 12.0.1", "apt-get": "true"}
    monkeypatch.setenv("PATH", programs(tmp_path / "bin", own))
    wanted = compilers.Wanted(family, 12)
    assert compilers.compiler(tmp_path / "state", wanted) == compilers.Compiler(wanted)
    other = compilers.compiler(tmp_path / "state", compilers.Wanted(family, 13))
    assert isinstance(other, str)


def test_a_mirror_that_does_not_answer_is_named_with_what_apt_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apt = {"apt-get": "echo 'Err:1 Temporary failure resolving'; exit 100"}
    monkeypatch.setenv("PATH", programs(tmp_path / "bin", apt))
    with pytest.raises(unpacked.UnpackError) as error:
        unpacked.fetch(tmp_path / "state", "http://mirror.example/debian", ["g++-14"])
    for part in ("http://mirror.example/debian", "Temporary failure", "fix:"):
        assert part in str(error.value)
