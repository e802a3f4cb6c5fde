# SPDX-License-Identifier: Apache-2.0
"""What the documentation says exists: files behind links, commands and options in its examples."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from takt.cli.main import every
from takt.reference import ROOT
from takt.reference.command_line import command, options, parts

PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")],
)
NOT_A_COMMAND = {"test", "--setup-only", "--version", "COMMAND"}
OF_THE_LAUNCHER = {"--ros"}  # beside any command


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def commands_in(page: Path) -> Iterator[list[str]]:
    """The words of every ``./takt …`` in a page's blocks of code, up to a comment or a pipe."""
    for block in re.findall(r"```(?!yaml|cpp|python)\w*\n(.*?)```", page.read_text(), re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.split(r"&&|[|;>]", line):
                words = shlex.split(part, comments=True) if "./takt " in part else []
                if "./takt" in words:
                    yield words[words.index("./takt") + 1 :]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    assert [
        link for link in links if link and "://" not in link and not (page.parent / link).exists()
    ] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_that_is_shown_exists_with_its_options(page: Path) -> None:
    for name, *arguments in commands_in(page):
        if name in NOT_A_COMMAND:
            continue
        assert name in every()
        below = arguments[:1] if arguments and arguments[0] in parts(name) else []
        known = options(command(" ".join([name, *below])))
        asked = [one.split("=")[0] for one in arguments if re.match(r"-{1,2}[a-z]", one)]
        assert set(asked) - set(known) <= OF_THE_LAUNCHER, f"of {name}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_python_example_is_python_and_finds_what_it_imports(page: Path) -> None:
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        imports = [
            one for one in ast.parse(block).body if isinstance(one, (ast.Import, ast.ImportFrom))
        ]
        exec(compile(ast.Module(imports, []), name_of(page), "exec"), {})  # noqa: S102


def test_the_first_page_leads_to_every_page_that_was_written() -> None:
    docs = ROOT / "docs"
    first = (docs / "README.md").read_text(encoding="utf-8")
    written = [
        str(page.relative_to(docs))
        for folder in ("tutorial", "how-to", "explanation", "reference")
        for page in sorted((docs / folder).glob("*.md"))
    ]
    assert [page for page in written if f"]({page}" not in first] == []
