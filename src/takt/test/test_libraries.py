# SPDX-License-Identifier: Apache-2.0
"""Installed libraries: they show what their public headers mark, and a process has one takt_core.

A front end that showed symbols of the core would bring a second one into a process that has both
front ends; a library that showed its inside could not change it.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2]
INSTALLED = SOURCES.parent / os.environ.get("TAKT_STATE", ".takt") / "install"
# What each marks its public entities with.
MARKS = {"takt_core": "TAKT_CORE", "takt_rcl": "TAKT_RCL", "takt_rclcpp": "TAKT_RCLCPP"}
_OURS = re.compile(
    r"^(?:guard variable for |TLS \w+ function for |(?:typeinfo|typeinfo name|vtable) for )?"
    r"(takt(?:_rclcpp)?::.*)$"
)
_NAMESPACE = re.compile(r"^namespace ([\w:]+) \{")
# A type, a namespace, a marked function or variable; a brace.
_DECLARED = (
    r"\b(?P<kind>class|struct|namespace) (?:MARK_(?P<how>PUBLIC|LOCAL) )?(?P<name>[\w:]+)"
    r"(?=[^;{}()]*(?P<follows>[;{]))"
    r"|MARK_(?P<of_function>PUBLIC|LOCAL)\s[^;{]*?(?P<function>operator\W+(?=\()|\w+(?=[(;]))[(;]"
    r"|[{}]"
)


def library(package: str) -> Path:
    file = INSTALLED / "lib" / f"lib{package}.so"
    if not file.exists():
        pytest.skip(f"{package} is not built here, or as a static library")
    return file


def exported(file: Path) -> list[str]:
    """Functions, variables and descriptions of types in namespaces of ours, as C++ writes them."""
    listed = output("nm", "--dynamic", "--demangle", "--defined-only", str(file))
    names = [line.split(" ", maxsplit=2)[2] for line in listed.splitlines()]
    return [found[1] for name in names if (found := _OURS.match(name))]


def marked(package: str) -> tuple[set[str], set[str]]:
    """What the headers make public, and what of that they keep for themselves."""
    found: dict[str, set[str]] = {"PUBLIC": set(), "LOCAL": set()}
    for header in (SOURCES / package / "include").rglob("*.hpp"):
        text = re.sub(r"//.*|#define.*", "", header.read_text(encoding="utf-8"))
        around, opening = [""], ""
        for token in re.finditer(_DECLARED.replace("MARK", MARKS[package]), text):
            name = token["name"] or token["function"]
            how = token["how"] or token["of_function"]
            if token[0] == "{":
                around.append("::".join(filter(None, (around[-1], opening))))
                opening = ""
            elif token[0] == "}":
                around.pop()
            else:
                if how:
                    found[how].add("::".join(filter(None, (around[-1], name))))
                opening = name if token["follows"] == "{" else ""
    return found["PUBLIC"], found["LOCAL"]


def inside(package: str) -> set[str]:
    """Types of the headers that are not installed."""
    names = set()
    for header in (SOURCES / package / "src").rglob("*.hpp"):
        space = ""
        for line in header.read_text(encoding="utf-8").splitlines():
            if opened := _NAMESPACE.match(line):
                space = opened[1]
            elif named := re.match(r"^(?:class|struct) ([\w:]+)(?: final)?(?: :.*)? \{", line):
                names.add(f"{space}::{named[1]}")
    return names


def output(*command: str, **environment: str) -> str:
    """Of a command without the environment of the tests, but for where programs are."""
    return subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C", **environment},
    ).stdout


def one_of(name: str, entities: set[str]) -> bool:
    """Whether it is one of them, or a member of one."""
    plain = name.replace("[abi:cxx11]", "")
    return any(re.match(rf"{re.escape(one)}(?:::|\(|<|$)", plain) for one in entities)


@pytest.mark.parametrize("package", MARKS)
def test_a_library_shows_what_its_public_headers_mark_and_nothing_else(package: str) -> None:
    names = exported(library(package))
    public, local = marked(package)
    assert len(public) > 1
    assert [one for one in names if not one_of(one, public)] == []
    assert [one for one in names if one_of(one, local)] == []


@pytest.mark.parametrize("package", MARKS)
def test_nothing_of_a_type_of_the_inside_is_shown(package: str) -> None:
    types = inside(package)
    if package == "takt_core":
        assert {"takt::executor::Crew", "takt::executor::Executor::Registry"} <= types
    assert types
    assert [one for one in exported(library(package)) if one_of(one, types)] == []


@pytest.mark.parametrize("package", ["takt_rcl", "takt_rclcpp"])
def test_a_front_end_has_the_core_beside_it_and_not_in_it(package: str) -> None:
    file = library(package)
    assert re.search(r"NEEDED.*\[libtakt_core\.so\.", output("readelf", "--dynamic", str(file)))
    public, _ = marked("takt_core")
    assert [one for one in exported(file) if one_of(one, public)] == []


def programs() -> list[Path]:
    """All that is installed and needs the core: programs, libraries and Python modules."""
    found = []
    for file in sorted((INSTALLED / "lib").rglob("*")):
        if file.is_file() and not file.is_symlink() and file.read_bytes()[:4] == b"\x7fELF":
            needs = output("readelf", "--dynamic", str(file))
            if re.search(r"NEEDED.*\[libtakt_core\.so", needs):
                found.append(file)
    return found


def test_what_is_installed_finds_the_core_beside_it_without_an_environment() -> None:
    core = library("takt_core").resolve()
    using = programs()
    assert {"bench_executor", "probe_raw"} <= {one.name for one in using}
    for one in using:
        found = re.search(r"libtakt_core\.so\S* => (\S+) ", output("ldd", str(one)))
        assert found, one
        assert Path(found[1]).resolve() == core, one


def test_no_function_is_looked_up_in_a_real_time_loop() -> None:
    for one in [library("takt_core"), *programs()]:
        assert "BIND_NOW" in output("readelf", "--dynamic", str(one)), one


@pytest.mark.parametrize("package", ["takt_core", "takt_rcl", "takt_rclcpp", "takt_runner"])
def test_an_installed_header_includes_only_installed_ones(package: str) -> None:
    folders = [SOURCES / one / "include" for one in MARKS]
    own = [SOURCES / package / one for one in ("include", "peers/include", "baseline/include")]
    headers = [one for folder in own for one in folder.rglob("*.hpp")]
    assert headers
    for header in headers:
        text = header.read_text(encoding="utf-8")
        assert "Internal to the" not in text, header
        for name in re.findall(r'^#include ["<](takt/[^">]+)[">]', text, re.MULTILINE):
            assert any((one / name).exists() for one in [*folders, *own]), f"{header}: {name}"
        assert not re.search(r'^#include "(?!takt/)', text, re.MULTILINE), header
