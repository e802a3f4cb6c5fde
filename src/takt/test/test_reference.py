# SPDX-License-Identifier: Apache-2.0
"""The reference that is made from the code."""

from __future__ import annotations

import re
import subprocess

import pytest

from takt.reference import DOCUMENTS, REFERENCE, ROOT, WRITTEN, cpp, files
from takt.reference.command_line import command, every, help_of
from takt.reference.keys import undescribed
from takt.reference.markdown import GENERATED, escaped

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


def test_every_public_header_is_on_a_page() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "src/takt_core/include", "src/takt_rcl/include"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    folders = {f"src/{folder}" for folder, _ in cpp.PAGES.values()}
    hidden = re.compile(r"/detail/|/visibility\.hpp$")
    public = [one for one in tracked if not hidden.search(one)]
    assert [one for one in public if one.rpartition("/")[0] not in folders] == []


HEADER = """// SPDX-License-Identifier: Apache-2.0
//
// Counter: counts what it is told.
//
//   Counter counter;
#pragma once
#include <vector>

namespace takt {

namespace detail {
int secret();
}  // namespace detail

// Not thread-safe.
class TAKT_CORE_PUBLIC Counter : public Base {
  int hidden_first_;

 public:
  explicit Counter(int from = {}) : count_{from} {}
  Counter(const Counter&) = delete;

  // One more.
  void add() noexcept { ++count_; }
  [[nodiscard]] int count() const;  // so far

 protected:
  void reset();

 private:
  int count_{0};  // so far
};

TAKT_CORE_PUBLIC int sum(const Counter& one,
                         const Counter& other);

}  // namespace takt
"""


def test_a_page_has_what_is_public_and_nothing_else() -> None:
    assert cpp.declarations(HEADER) == (
        "namespace takt {\n"
        "// Not thread-safe.\n"
        "class Counter : public Base {\n"
        " public:\n"
        "  explicit Counter(int from = {});\n"
        "\n"
        "  // One more.\n"
        "  void add() noexcept;\n"
        "  [[nodiscard]] int count() const;  // so far\n"
        "};\n"
        "\n"
        "int sum(const Counter& one,\n"
        "        const Counter& other);\n"
        "}  // namespace takt"
    )
    assert cpp.prose(HEADER) == [
        "Counter: counts what it is told.", "", "```text", "  Counter counter;", "```",
    ]  # fmt: skip


def test_the_head_of_a_header_is_prose_without_its_command() -> None:
    head = "// SPDX\n/// @file\n/// Counts *all*.\n///\n/// ```cpp\n/// a * b;\n/// ```\nint a;\n"
    assert cpp.prose(head) == [r"Counts \*all\*.", "", "```cpp", "a * b;", "```"]


def test_a_header_of_internals_has_no_declarations() -> None:
    assert cpp.declarations("namespace takt::detail {\nint secret();\n}  // namespace\n") == ""


def test_signs_are_not_taken_for_markup_outside_of_code() -> None:
    assert escaped("shared_ptr<T> of `a<b>` and *x_") == r"shared_ptr\<T\> of `a<b>` and \*x\_"
