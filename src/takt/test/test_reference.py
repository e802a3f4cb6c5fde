# SPDX-License-Identifier: Apache-2.0
"""The reference that is made from the code."""

from __future__ import annotations

import pytest

from takt.pages.markdown import GENERATED, escaped
from takt.reference import DOCUMENTS, REFERENCE, ROOT, WRITTEN, files
from takt.reference.command_line import command, every, help_of
from takt.reference.keys import undescribed

FILES = files()


@pytest.mark.parametrize("file", FILES)
def test_a_generated_file_is_what_the_code_says(file: str) -> None:
    assert (ROOT / file).read_text(encoding="utf-8") == FILES[file](), (
        "write it anew: python -m takt.reference"
    )


def test_no_generated_page_is_left_over() -> None:
    pages = (ROOT / REFERENCE).rglob("*.md")
    generated = {page for page in pages if page.read_text(encoding="utf-8").startswith(GENERATED)}
    assert generated == {ROOT / file for file in FILES if file.endswith(".md")}


@pytest.mark.parametrize("name", every())
def test_every_command_says_its_exit_codes_and_an_example(name: str) -> None:
    said = help_of(command(name))
    assert said.text
    assert said.exit_code
    assert all(example.startswith(f"takt {name}") for example in said.examples)
    assert said.examples


@pytest.mark.parametrize("name", WRITTEN)
def test_every_key_that_people_write_is_explained(name: str) -> None:
    assert list(undescribed(WRITTEN[name][1])) == []


def test_every_command_with_a_document_says_where_it_is_described() -> None:
    index = (ROOT / REFERENCE / "documents" / "README.md").read_text(encoding="utf-8")
    assert [name for name in DOCUMENTS if f"({name}.md)" not in index] == []


def test_signs_are_not_taken_for_markup_outside_of_code() -> None:
    assert escaped("shared_ptr<T> of `a<b>` and *x_") == r"shared_ptr\<T\> of `a<b>` and \*x\_"
