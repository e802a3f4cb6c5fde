# SPDX-License-Identifier: Apache-2.0
"""Plug-ins: found by entry points; the tool works without them; a broken one is named."""

from __future__ import annotations

import configparser
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import takt as package

TOOL = Path(package.__file__).resolve().parent
ROOT = TOOL.parents[2]
DECLARED = TOOL.parent / "takt.dist-info"
PLUG_INS = {"lab", "reproduce"}

HELLO = '''
from typing import Annotated
import typer


def hello(name: Annotated[str, typer.Argument(help="Who.")] = "world") -> None:
    """Greet.

    Exit code: 0 done.

    Example: takt hello
    """
    print(f"hello {name}")
'''
PAPER = """
from pathlib import Path
from takt.reproduce.model import Answer, Outcome, Request
from takt.reproduce.published import read_published


def reproduce(request: Request) -> Outcome:
    folder = request.out or Path("toy")
    folder.mkdir(exist_ok=True)
    published = read_published("toy2026")
    answer = Answer(measured={"two": 2}, holds=True, criterion=criteria()["sum"])
    return published.outcome(
        request, folder, unfinished=[], findings=[published.finding("sum", "all", answer)],
        tables=[], figures=[],
    )


def criteria() -> dict[str, str]:
    return {"sum": "two == 2"}
"""
PUBLISHED = """
paper: toy2026
title: A toy
findings:
  sum: {claim: One and one is two, at: "1", values: {two: 2}}
"""
STACK = """
from pathlib import Path


def probe() -> Path:
    return Path(__file__).with_name("toy_probe.py")
"""
PROBE = f"""#!{sys.executable}
import json
capability = {{"kind": "pingpong", "transport": "toy", "roles": ["both"]}}
print(json.dumps({{"stack": "toy", "capabilities": [capability]}}))
"""


def distribution(site: Path, name: str, entries: str, **modules: str) -> None:
    """An installed distribution, as pip leaves one."""
    information = site / f"{name}-1.2.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    (information / "entry_points.txt").write_text(entries)
    for module, text in modules.items():
        (site / f"{module}.py").write_text(text)


def call(
    *arguments: str, path: list[Path], folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """The tool with exactly these folders before the environment's own packages."""
    inherited = [one for one in sys.path if one and Path(one).resolve() != TOOL.parent]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([*map(str, path), *inherited]), "COLUMNS": "200"
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", "takt", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def listed(help_text: str) -> set[str]:
    """The commands of a help page."""
    rows = [line.strip("│ ").split() for line in help_text.splitlines() if line.startswith("│")]
    return {row[0] for row in rows if row and not row[0].startswith("-")}


def sections(file: Path) -> dict[str, dict[str, str]]:
    """The sections of a file; as much of TOML as the wheel's settings need."""
    parser = configparser.ConfigParser(allow_no_value=True, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(file, encoding="utf-8")
    return {name: dict(parser[name]) for name in parser.sections()}


def test_the_clone_an_installation_and_the_wheel_declare_the_same_plug_ins() -> None:
    expected = sections(DECLARED / "entry_points.txt")
    prefix = "project.entry-points."
    wheel = {
        name.removeprefix(prefix).strip('"'): {
            key.strip('"'): value.strip('"') for key, value in entries.items()
        }
        for name, entries in sections(ROOT / "setup/wheel/pyproject.toml").items()
        if name.startswith(prefix)
    }
    assert wheel == expected
    ament = sections(TOOL.parent / "setup.cfg")["options.entry_points"]
    del ament["ros2cli.command"]  # of ROS 2, not of the tool
    groups = {
        group: dict(line.split(" = ") for line in text.split("\n") if line)
        for group, text in ament.items()
    }
    assert groups == expected
    version = f"Version: {package.__version__}"
    assert version in (DECLARED / "METADATA").read_text(encoding="utf-8").splitlines()


def test_without_plug_ins_the_tool_starts_and_works(tmp_path: Path) -> None:
    """Not even their files are there."""
    (tmp_path / "takt").mkdir()
    for one in TOOL.iterdir():
        if one.name not in {*PLUG_INS, "__pycache__"}:
            (tmp_path / "takt" / one.name).symlink_to(one)
    helped = call("--help", path=[tmp_path])
    assert helped.returncode == 0, helped.stderr
    assert helped.stderr == ""
    assert {"check", "measure", "report"} <= listed(helped.stdout)
    assert not listed(helped.stdout) & PLUG_INS
    refused = call("reproduce", "ye2023", path=[tmp_path])
    assert refused.returncode == 2
    assert "No such command 'reproduce'" in refused.stderr
    measure = call("measure", "--help", path=[tmp_path])
    assert measure.returncode == 0, measure.stderr
    assert "wakeup" in measure.stdout
    analysed = call("analyse", str(ROOT / "examples/docking.app.yaml"), path=[tmp_path])
    assert analysed.returncode == 0, analysed.stderr
    assert "radar.scan" in analysed.stdout
    doctor = call("doctor", "--json", path=[tmp_path])
    assert json.loads(doctor.stdout)["schema_version"]
    assert call("report", "nothing", path=[tmp_path]).returncode == 2


def test_a_distribution_adds_a_command(tmp_path: Path) -> None:
    distribution(tmp_path, "toy", "[takt.commands]\nhello = toy_hello:hello\n", toy_hello=HELLO)
    path = [tmp_path, TOOL.parent]
    assert {"hello", *PLUG_INS} <= listed(call("--help", path=path).stdout)
    assert call("hello", "robot", path=path).stdout == "hello robot\n"
    assert "Example: takt hello" in call("hello", "--help", path=path).stdout


def test_a_folder_of_a_distribution_is_a_paper(tmp_path: Path) -> None:
    site = tmp_path / "site"
    distribution(site, "toy", "[takt.papers]\ntoy2026 = toy2026\n")
    (site / "toy2026").mkdir()
    (site / "toy2026" / "__init__.py").write_text(PAPER)
    (site / "toy2026" / "published.yaml").write_text(PUBLISHED)
    path = [site, TOOL.parent]
    out = tmp_path / "out"
    done = call("reproduce", "toy2026", "--out", str(out), "--json", path=path, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [(one["id"], one["holds"]) for one in document["findings"]] == [("sum", True)]
    page = tmp_path / "page.html"
    assert call("report", str(out), "--out", str(page), path=path).returncode == 0
    assert "One and one is two" in page.read_text(encoding="utf-8")
    refused = call("reproduce", "toy2027", path=path)
    assert refused.returncode == 2
    assert "toy2026" in refused.stderr


def test_a_distribution_adds_a_stack(tmp_path: Path) -> None:
    distribution(tmp_path, "toy", "[takt.stacks]\ntoy = toy_stack:probe\n", toy_stack=STACK)
    probe = tmp_path / "toy_probe.py"
    probe.write_text(PROBE)
    probe.chmod(0o755)
    path = [tmp_path, TOOL.parent]
    planned = call("measure", "pingpong", "--stack", "toy", "--dry-run", "--json", path=path)
    assert planned.returncode == 0, planned.stderr
    assert "toy" in json.loads(planned.stdout)["cells"][0]


@pytest.mark.parametrize(
    "body",
    ["import not_there_at_all", "raise SystemExit(3)", "1 / 0", "def hello(:"],
    ids=["ImportError", "SystemExit", "ZeroDivisionError", "SyntaxError"],
)
def test_a_plug_in_that_does_not_load_is_named_and_the_tool_goes_on(
    tmp_path: Path, body: str, request: pytest.FixtureRequest
) -> None:
    distribution(tmp_path, "toy", "[takt.commands]\nhello = toy_hello:hello\n", toy_hello=body)
    path = [tmp_path, TOOL.parent]
    helped = call("--help", path=path)
    assert helped.returncode == 0
    assert "check" in listed(helped.stdout)
    assert "hello" not in listed(helped.stdout)
    kind = request.node.callspec.id.replace("ImportError", "ModuleNotFoundError")
    for said in (helped.stderr, call("hello", path=path).stderr):
        assert "plug-in hello (takt.commands) of toy 1.2 does not load" in said
        assert kind in said
        assert said.count("does not load") == 1
    assert call("hello", path=path).returncode == 1


def test_a_stack_whose_function_fails_is_named_and_the_others_are_found(tmp_path: Path) -> None:
    distribution(
        tmp_path, "toy", "[takt.stacks]\ntoy = toy_stack:probe\n",
        toy_stack="def probe():\n    raise OSError('no licence')\n",
    )  # fmt: skip
    code = "from takt.network import stacks; print(sorted(stacks.find({}).probes))"
    path = os.pathsep.join([str(tmp_path), str(TOOL.parent), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "toy" not in done.stdout
    assert "of toy 1.2 does not load: OSError: no licence" in done.stderr
