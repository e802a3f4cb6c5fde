# SPDX-License-Identifier: Apache-2.0
"""What the set-up says of a step: why it failed, and meanwhile how far it is."""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from setup import steps


@pytest.fixture
def bootstrap(bootstrap: Any) -> Any:
    """In its log an earlier step has failed, too."""
    bootstrap.LOG.write_text("earlier.cpp:1:2: error: of a step before\n")
    return bootstrap


def why(bootstrap: Any, *command: str | Path) -> list[str]:
    """What stands between the title of a step that fails and the place of its log."""
    with pytest.raises(bootstrap.SetupError) as error:
        bootstrap.run([str(word) for word in command], "build")
    title, *lines, log = str(error.value).splitlines()
    assert title.endswith(": build")
    assert str(bootstrap.LOG) in log
    return lines


def test_a_build_that_fails_shows_what_the_compiler_calls_errors_wherever_they_stand(
    bootstrap: Any, tmp_path: Path
) -> None:
    compiler = shutil.which("g++")
    assert compiler
    source = tmp_path / "broken.cpp"
    source.write_text("#include <string>\nint twice(int);\nstd::string f() { return twice(g); }\n")
    absent = tmp_path / "absent.cpp"
    absent.write_text('#include "not_there.hpp"\n')
    script = '"$0" -c "$1"; "$0" -c "$1"; "$0" -c "$2"; seq -f "built %g" 100; exit 1'
    lines = why(bootstrap, "sh", "-c", script, compiler, source, absent)
    assert len(lines) == 2, lines
    assert lines[0].startswith(f"{source}:3:")
    assert " error: " in lines[0]
    assert lines[1].startswith(f"{absent}:1:")
    assert "not_there.hpp" in lines[1]


def test_what_cmake_does_not_configure_is_shown_with_its_file(
    bootstrap: Any, tmp_path: Path
) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(broken NONE)\n"
        "target_link_libraries(nobody PRIVATE it)\n"
    )
    cmake = shutil.which("cmake")
    assert cmake
    script = '"$0" -S "$1" -B "$1/build"; seq -f "built %g" 100; exit 1'
    (line,) = why(bootstrap, "sh", "-c", script, cmake, tmp_path)
    assert line.startswith("CMake Error at CMakeLists.txt:3 ")
    assert '"nobody"' in line


def test_what_the_linker_does_not_find_is_shown(bootstrap: Any, tmp_path: Path) -> None:
    compiler = shutil.which("g++")
    assert compiler
    source = tmp_path / "unlinked.cpp"
    source.write_text("int absent();\nint main() { return absent(); }\n")
    script = '"$0" "$1" -o "$1.out"; seq 100; exit 1'
    lines = why(bootstrap, "sh", "-c", script, compiler, source)
    assert any("undefined reference to `absent()'" in line for line in lines), lines
    assert not any(line.isdecimal() for line in lines)


def test_of_many_errors_the_first_are_shown_and_how_many_there_are(
    bootstrap: Any, tmp_path: Path
) -> None:
    source = tmp_path / "wrong.cpp"
    source.write_text("".join(f"int v{i} = nothing{i};\n" for i in range(40)))
    *lines, rest = why(bootstrap, "g++", "-c", source)
    assert [line.split(":")[1] for line in lines] == [str(i + 1) for i in range(12)]
    assert rest == "(28 more)"


def test_a_message_of_any_length_leaves_the_screen_to_the_others(bootstrap: Any) -> None:
    script = f"print('x.cpp:1:2: error: ' + {'a' * 9000!r}); raise SystemExit(1)"
    (line,) = why(bootstrap, sys.executable, "-c", script)
    assert line.startswith("x.cpp:1:2: error: aaa")
    assert len(line) < 400


def test_a_step_that_names_no_error_shows_the_end_of_its_own_output(bootstrap: Any) -> None:
    lines = why(bootstrap, "sh", "-c", "seq 100; echo 'E: Unable to locate package x'; exit 100")
    assert lines == [*map(str, range(77, 101)), "E: Unable to locate package x"]
    assert why(bootstrap, "false") == ["(it printed nothing)"]


def test_without_a_terminal_a_long_step_says_now_and_then_what_it_is_and_how_far(
    bootstrap: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "REPORTED_S", 0.0)
    said: list[str] = []
    twice = tmp_path / "twice"

    def say(text: str, end: str = "\n") -> None:
        said.append(text + end)
        if len(said) == 2:
            twice.touch()

    monkeypatch.setattr(steps, "say", say)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    script = f"echo step 7 of 9; while [ ! -e {twice} ]; do sleep 0.05; done"
    bootstrap.run(["sh", "-c", script], "build", progress=lambda log, _: log.strip())
    *meanwhile, done = said
    assert len(meanwhile) >= 2
    for line in meanwhile[1:]:  # at first it may not have printed anything
        assert line.startswith("  build … ")
        assert line.endswith(" s (step 7 of 9)\n")
    assert done.startswith("  build: ")


def test_how_often_that_is() -> None:
    assert steps.REPORTED_S == 30
