# SPDX-License-Identifier: Apache-2.0
"""Every public entity of a C++ header has a Doxygen comment, or the check names it."""

from __future__ import annotations

from pathlib import Path

import pytest
from setup.cpp_comments import gaps, main

DOCUMENTED = """// SPDX-License-Identifier: Apache-2.0
/// @file
/// Counting.
#pragma once
#include <vector>

namespace takt {

class Forward;

namespace detail {
int secret();
}  // namespace detail

/// Not thread-safe.
class TAKT_CORE_PUBLIC Counter : public Base {
  int hidden_first_;

 public:
  /// @param from the first number.
  explicit Counter(int from = {}) : count_{from} {}
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = default;
  ~Counter() override;
  void run() const override;

  /// The next number.
  // NOLINTNEXTLINE(modernize-use-nodiscard): it may be ignored
  int next() noexcept { return ++count_; }

  int step = 1;  ///< Above 0; a long description of it
                 ///< goes on below.
  using Base::Base;

 private:
  struct Hidden {
    int value;
  };
  int count_{0};
};

/// How to count.
enum class Way : std::uint8_t {
  up,    ///< by one more
  down,  ///< by one less
};

/// The larger of two.
/// @tparam Number a type of numbers.
/// @param one, other the numbers.
template <class Number>
TAKT_CORE_PUBLIC Number larger(const Number& one,
                               const Number& other);

}  // namespace takt
"""

LARGER = DOCUMENTED[DOCUMENTED.index("/// The larger") : DOCUMENTED.index("template <")]


def names(header: str) -> list[str]:
    return [gap.name for gap in gaps(header)]


def test_a_documented_header_has_no_gap() -> None:
    assert list(gaps(DOCUMENTED)) == []


@pytest.mark.parametrize(
    ("comment", "entity"),
    [
        ("/// Not thread-safe.\n", "Counter"),
        ("  /// @param from the first number.\n", "Counter"),
        ("  /// The next number.\n", "next"),
        ("///< Above 0; a long description of it\n", "step"),
        ("/// How to count.\n", "Way"),
        ("///< by one more", "up"),
        ("///< by one less", "down"),
        (LARGER, "larger"),
    ],
)
@pytest.mark.parametrize("plain", [False, True])
def test_an_entity_without_comment_is_named(comment: str, entity: str, plain: bool) -> None:
    assert comment in DOCUMENTED
    instead = comment.replace("///<", "//").replace("///", "//") if plain else ""
    if not instead and comment.endswith("\n") and "///<" in comment:
        instead = "\n"
    assert names(DOCUMENTED.replace(comment, instead)) == [entity]


@pytest.mark.parametrize(
    "added",
    [
        "int size();",
        "inline constexpr int size = 1;",
        "using size = int;",
        "typedef int size;",
        "struct size {};",
        "template <class T>\nconcept size = true;",
        "template <class T>\nint size(T);",
    ],
)
def test_each_kind_of_entity_is_checked(added: str) -> None:
    end = "\n}  // namespace takt\n"
    assert names(DOCUMENTED.replace(end, f"\n{added}\n{end}")) == ["size"]
    assert names(DOCUMENTED.replace(end, f"\n/// In bytes.\n{added}\n{end}")) == []


def test_members_of_a_nested_type_are_checked() -> None:
    nested = "  /// A part.\n  struct Part {\n    int size = 0;\n  };\n"
    header = DOCUMENTED.replace("  using Base::Base;\n", nested)
    [gap] = gaps(header)
    assert gap.name == "size"
    assert header.splitlines()[gap.line - 1].strip() == "int size = 0;"


def test_the_comment_behind_one_member_is_not_that_of_the_next() -> None:
    header = DOCUMENTED.replace("  using Base::Base;\n", "  int rest = 0;\n")
    assert names(header) == ["rest"]


def test_a_described_parameter_exists() -> None:
    [gap] = gaps(DOCUMENTED.replace("@param from", "@param form"))
    assert (gap.name, gap.problem) == (
        "Counter",
        "has no parameter 'form', which its comment describes",
    )


def test_a_header_says_what_it_is_for() -> None:
    assert names(DOCUMENTED.replace("/// @file\n", "")) == ["the file"]
    assert names(DOCUMENTED.replace("/// Counting.\n", "")) == ["the file"]


def test_the_gaps_of_files_are_printed_with_their_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "detail").mkdir()
    for folder in (tmp_path, tmp_path / "detail"):
        (folder / "a.hpp").write_text("// SPDX\n/// @file\n/// A.\nint size();\n")
    complete = tmp_path / "b.hpp"
    complete.write_text(DOCUMENTED)
    headers = [str(tmp_path / "a.hpp"), str(tmp_path / "detail" / "a.hpp"), str(complete)]
    assert main(headers) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == f"{headers[0]}:4: size has no comment '///' above it or '///<' behind it"
    assert len(printed) == 2
    assert main(headers[1:]) == 0
