# SPDX-License-Identifier: Apache-2.0
"""``./takt test --abi``: which changes of a library are incompatible, and how the command ends."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from setup import abi
from setup.abi import Library

SHOWN = '__attribute__((visibility("default")))'
HEADER = f"""
struct {SHOWN} Size {{ int width; int height; }};
class {SHOWN} Shape {{
 public:
  virtual ~Shape();
  virtual int area() const;
 private:
  struct Inside;
  Inside* inside = nullptr;
}};
{SHOWN} int area(const Size& size);
"""
SOURCE = """
#include "toy.hpp"
struct Shape::Inside { int one; };
Shape::~Shape() { delete inside; }
int Shape::area() const { return inside ? inside->one : 0; }
int area(const Size& size) { return size.width * size.height; }
int hidden(int a) { return a; }
"""
Toy = Callable[[str, str, str, str], Library]

needs_the_tool = pytest.mark.skipif(
    shutil.which(abi.TOOL) is None, reason="abidiff is not installed: apt install abigail-tools"
)


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    """A small library, built as those of Takt are."""

    def make(name: str, header: str, source: str, soname: str) -> Library:
        folder = tmp_path / name / "include"
        folder.mkdir(parents=True)
        (folder / "toy.hpp").write_text(header)
        (tmp_path / name / "toy.cpp").write_text(source)
        file = tmp_path / name / "libtoy.so"
        words = ["-g", "-O0", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{folder}"]
        words += [f"-Wl,-soname,libtoy.so.{soname}", "-o", str(file)]
        subprocess.run(["g++", *words, str(tmp_path / name / "toy.cpp")], check=True)
        return Library(file, folder)

    return make


COMPATIBLE = {
    "nothing": (("", ""), ("", "")),
    "a function that is added": (
        ("", f"\n{SHOWN} int twice(int a);"),
        ("int hidden", "int twice(int a) { return 2 * a; }\nint hidden"),
    ),
    "a hidden function": (("", ""), ("int hidden(int a)", "int hidden(int a, int)")),
    "a private type that the header only names": (
        ("", ""),
        ("{ int one; }", "{ double other = 0; int one = 0; }"),
    ),
}
INCOMPATIBLE = {
    "a parameter": (("area(const Size& size)", "area(Size size)"),) * 2,
    "a member": (("int width;", "int width; int depth;"), ("", "")),
    "a function that is gone": (
        (f"{SHOWN} int area(const Size& size);", ""),
        ("int area(const Size& size) { return size.width * size.height; }", ""),
    ),
    "the order of a virtual table": (
        (
            "  virtual int area() const;",
            "  virtual int first() const;\n  virtual int area() const;",
        ),
        ("int hidden", "int Shape::first() const { return 0; }\nint hidden"),
    ),
}


def changed(text: str, pair: tuple[str, str]) -> str:
    """With the former replaced by the latter, at the end where there is nothing to replace."""
    return text.replace(*pair) if pair[0] else text + pair[1]


@needs_the_tool
@pytest.mark.parametrize("what", COMPATIBLE)
def test_what_programs_do_not_see_is_compatible(toy: Toy, what: str) -> None:
    header, source = COMPATIBLE[what]
    new = toy("new", changed(HEADER, header), changed(SOURCE, source), "1")
    assert abi.compare(toy("old", HEADER, SOURCE, "1"), new).compatible


@needs_the_tool
@pytest.mark.parametrize("what", INCOMPATIBLE)
def test_what_programs_see_is_not_and_another_soname_allows_it(toy: Toy, what: str) -> None:
    header, source = INCOMPATIBLE[what]
    texts = changed(HEADER, header), changed(SOURCE, source)
    old = toy("old", HEADER, SOURCE, "1")
    same = abi.compare(old, toy("new", *texts, "1"))
    assert (same.compatible, same.allowed) == (False, False)
    assert same.message
    other = abi.compare(old, toy("newer", *texts, "2"))
    assert (other.compatible, other.allowed) == (False, True)
    assert other.sonames == ("libtoy.so.1", "libtoy.so.2")


@needs_the_tool
def test_what_is_no_library_is_not_compared(toy: Toy, tmp_path: Path) -> None:
    (tmp_path / "libtoy.so").write_text("no library")
    with pytest.raises(abi.AbiError, match="did not compare"):
        abi.compare(toy("old", HEADER, SOURCE, "1"), Library(tmp_path / "libtoy.so", tmp_path))


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of two commits, each with a package; the other packages are not there."""
    root = tmp_path / "clone"
    package = root / "src" / "takt_core"
    package.mkdir(parents=True)
    monkeypatch.setattr(abi, "ROOT", root)
    monkeypatch.setattr(abi, "FOLDER", tmp_path / "abi")

    def git(*words: str) -> None:
        names = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", *names, *words], cwd=root, check=True, capture_output=True)

    git("init", "--quiet")
    for number in ("1", "2"):
        (package / "CMakeLists.txt").write_text(f"# {number}\n")
        git("add", ".")
        git("commit", "--quiet", "-m", number)
    return root


def outcome(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, *words: str, soname: str = "1", header: str = HEADER
) -> int:
    """Of the command, with toys in place of what CMake would build of the two commits."""
    libraries = iter([toy("old", HEADER, SOURCE, "1"), toy("new", header, SOURCE, soname)])
    monkeypatch.setattr(abi, "built", lambda *_: next(libraries))
    return abi.main(words)


@needs_the_tool
@pytest.mark.parametrize(
    ("soname", "header", "code", "message"),
    [
        ("1", HEADER, 0, "compatible"),
        ("1", HEADER.replace("int width;", "long width;"), 1, "INCOMPATIBLE"),
        ("2", HEADER.replace("int width;", "long width;"), 0, "announced by its SONAME"),
    ],
)
def test_the_exit_code_says_it(
    toy: Toy,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    soname: str,
    header: str,
    code: int,
    message: str,
) -> None:
    assert outcome(toy, monkeypatch, soname=soname, header=header) == code
    out = capsys.readouterr().out
    assert message in out
    assert "takt_rcl: left out: " in out


def test_without_words_the_newest_tag_or_the_commit_before_is_compared(repository: Path) -> None:
    old, new = abi.commits([])
    assert (old, new) == (abi.resolved("HEAD^"), abi.resolved("HEAD"))
    assert abi.commits([new]) == (new, new)
    subprocess.run(
        ["git", "commit", "-q", "--allow-empty", "-m", "3"],
        cwd=repository,
        check=True,
        env={
            "PATH": "/usr/bin:/bin",
            **dict.fromkeys(
                (
                    "GIT_AUTHOR_NAME",
                    "GIT_COMMITTER_NAME",
                    "GIT_AUTHOR_EMAIL",
                    "GIT_COMMITTER_EMAIL",
                ),
                "a",
            ),
        },
    )
    subprocess.run(["git", "tag", "0.1.0", old], cwd=repository, check=True)
    assert abi.commits([]) == (old, abi.resolved("HEAD"))


@pytest.mark.parametrize("words", [["no-such"], ["HEAD", "HEAD", "HEAD"], ["--all"]])
def test_wrong_use_compares_nothing(
    repository: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert abi.main(words) == 2
    assert abi.USAGE in capsys.readouterr().err


def test_without_the_tool_the_package_is_named(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(abi, "TOOL", "no-such-abidiff")
    assert abi.main([]) == 2
    assert "apt install abigail-tools" in capsys.readouterr().err


def test_the_package_of_a_commit_is_what_is_built(repository: Path, tmp_path: Path) -> None:
    abi.exported("takt_core", "HEAD^", tmp_path / "source")
    assert (tmp_path / "source" / "CMakeLists.txt").read_text() == "# 1\n"
