# SPDX-License-Identifier: Apache-2.0
"""The pages of the C++ API: made from the headers for the site, and not tracked."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from setup import cpp_pages as cpp
from setup.distributions import ROOT


@pytest.mark.parametrize("name", cpp.PAGES)
def test_each_page_has_the_declarations_of_its_headers(name: str, tmp_path: Path) -> None:
    cpp.write(tmp_path)
    page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    folder = ROOT / "src" / cpp.PAGES[name][0]
    declared = {one.name: cpp.declarations(one.read_text()) for one in folder.glob("*.hpp")}
    declared.pop("visibility.hpp", None)
    assert any(declared.values())
    assert [one for one, text in declared.items() if text not in page] == []


def test_git_ignores_the_pages() -> None:
    pages = [f"docs/reference/cpp/{name}.md" for name in cpp.PAGES]
    done = subprocess.run(
        ["git", "check-ignore", *pages], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == pages


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
