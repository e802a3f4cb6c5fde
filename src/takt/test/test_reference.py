# SPDX-License-Identifier: Apache-2.0
"""The reference that is made from the code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from takt.pages.markdown import GENERATED, escaped
from takt.reference import DOCUMENTS, REFERENCE, ROOT, WRITTEN, files, model_of
from takt.reference.command_line import command, every, help_of
from takt.reference.keys import undescribed

FILES = files()


@pytest.mark.parametrize("file", FILES)
def test_every_generated_file_can_be_made(file: str) -> None:
    text = FILES[file]()
    if file.endswith(".json"):
        assert json.loads(text)["properties"]
    else:
        assert text.startswith(f"{GENERATED}\n# ")
        assert len(text.splitlines()) > 5


def test_the_set_up_writes_them_and_git_ignores_them() -> None:
    assert [file for file in FILES if not (ROOT / file).exists()] == []
    done = subprocess.run(
        ["git", "check-ignore", *FILES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == list(FILES)


# Not built, and built as far as a check needs it.
@pytest.mark.parametrize("part", ["", "def __getattr__(name):\n    raise ImportError(name)\n"])
def test_where_takt_core_is_not_built_the_pages_that_need_it_are_left_out(
    tmp_path: Path, part: str
) -> None:
    root = tmp_path / "clone"
    shutil.copytree(ROOT / "src" / "takt" / "takt", root / "src" / "takt" / "takt")
    shutil.copytree(
        ROOT / "src" / "takt" / "takt.dist-info", root / "src" / "takt" / "takt.dist-info"
    )
    if part:
        (root / "src" / "takt" / "takt_core").mkdir()
        (root / "src" / "takt" / "takt_core" / "__init__.py").write_text(part)
    (root / REFERENCE).mkdir(parents=True)
    environment = os.environ | {"PYTHONPATH": str(root / "src" / "takt")}
    done = subprocess.run(
        [sys.executable, "-m", "takt.reference"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    left = {line.rpartition(" ")[2] for line in done.stdout.splitlines()}
    assert f"{REFERENCE}/limits-keys.md" in left
    written = {str(file.relative_to(root)) for file in (root / REFERENCE).rglob("*.*")}
    assert f"{REFERENCE}/command-line.md" in written
    assert written | left == set(FILES)


@pytest.mark.parametrize("name", every())
def test_every_command_says_its_exit_codes_and_an_example(name: str) -> None:
    said = help_of(command(name))
    assert said.text
    assert said.exit_code
    assert all(example.startswith(f"takt {name}") for example in said.examples)
    assert said.examples


@pytest.mark.parametrize("name", WRITTEN)
def test_every_key_that_people_write_is_explained(name: str) -> None:
    assert list(undescribed(model_of(WRITTEN[name][1]))) == []


def test_every_command_with_a_document_says_where_it_is_described() -> None:
    index = (ROOT / REFERENCE / "documents" / "README.md").read_text(encoding="utf-8")
    assert [name for name in DOCUMENTS if f"({name}.md)" not in index] == []


def test_signs_are_not_taken_for_markup_outside_of_code() -> None:
    assert escaped("shared_ptr<T> of `a<b>` and *x_") == r"shared_ptr\<T\> of `a<b>` and \*x\_"
