# SPDX-License-Identifier: Apache-2.0
"""Checks that every public entity of a C++ header has a Doxygen comment.

Usage: .takt/venv/bin/python setup/cpp_comments.py HEADER…; prints each gap as file:line and exits
with 1.

A comment begins with ``///`` and stands above its entity, or with ``///<`` and stands behind it. A
header begins with one that has ``@file``. Public is what ``cpp_pages`` puts on its pages.
No comment needs what says everything by itself: defaulted and deleted functions, overriding ones,
forward declarations.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))
sys.path.append(str(Path(__file__).resolve().parents[1] / "src" / "takt"))
from setup import cpp_pages as cpp

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPES = {"class_specifier", "struct_specifier", "union_specifier", "enum_specifier"}
_ENTITIES = _TYPES | {
    "alias_declaration",
    "concept_definition",
    "declaration",
    "enumerator",
    "field_declaration",
    "function_definition",
    "type_definition",
}
_OPAQUE = {"compound_statement", "field_initializer_list", "friend_declaration"}
_PARAMETER = re.compile(r"[@\\]t?param(?:\[[^\]]*\])?\s+(\w+)")


class Gap(NamedTuple):
    """What a header lacks, and where."""

    line: int
    name: str
    problem: str


def gaps(header: str) -> Iterator[Gap]:
    """Everything that the text of a header leaves undocumented, from top to bottom."""
    if re.match(r"(?://.*\n)*/// @file\n/// \S", header) is None:
        yield Gap(1, "the file", "has no comment '/// @file' with a description")
    yield from _gaps(cpp.parsed(header))


def _gaps(node: Node) -> Iterator[Gap]:
    for child in cpp.public_children(node):
        if child.type in _OPAQUE:
            continue
        inner = child
        if child.type == "template_declaration":
            inner = child.named_children[-1]
        entity = inner.type in _ENTITIES and not _needs_none(inner)
        if entity:
            yield from _problems(child, inner)
        if inner.type in {"declaration", "field_declaration"}:
            kind = inner.child_by_field_name("type")
            if kind is not None and kind.type in _TYPES:
                yield from _gaps(kind)
        elif inner.type not in {"function_definition", "enumerator", "alias_declaration"}:
            yield from _gaps(inner)


def _problems(node: Node, inner: Node) -> Iterator[Gap]:
    line, name = node.start_point[0] + 1, _name(inner)
    comment = _above(node) + _behind(node)
    if not comment:
        yield Gap(line, name, "has no comment '///' above it or '///<' behind it")
    signature = _signature(inner if inner is node else node)
    for parameter in _PARAMETER.findall(comment):
        if re.search(rf"\b{parameter}\b", signature) is None:
            yield Gap(line, name, f"has no parameter '{parameter}', which its comment describes")


def _needs_none(node: Node) -> bool:
    text = _text(node)
    if node.type in _TYPES:
        return node.child_by_field_name("body") is None  # a forward declaration
    if node.type in {"declaration", "field_declaration", "function_definition"}:
        head = _signature(node)
        return re.search(r"=\s*(default|delete);$", text) is not None or (
            re.search(r"\)[^()]*\boverride\b", head) is not None
        )
    return False


def _signature(node: Node) -> str:
    """A declaration without the body of its function or class."""
    body = node.child_by_field_name("body")
    for child in node.named_children:
        body = body or child.child_by_field_name("body")
    text = node.text or b""
    return (text if body is None else text[: body.start_byte - node.start_byte]).decode()


def _above(node: Node) -> str:
    """The text of the comment above a node; plain comments may stand between them."""
    lines: list[str] = []
    before = node.prev_sibling
    while before is not None and before.type == "comment":
        text = _text(before)
        if text.startswith("///") and not text.startswith("///<"):
            lines.insert(0, text)
        elif _is_behind(before):
            break
        before = before.prev_sibling
    text = "\n".join(lines)
    return "" if "@file" in text else text  # that of the header


def _behind(node: Node) -> str:
    """The text of the comment behind a node, on its last line and those below it."""
    after = node.next_sibling
    lines: list[str] = []
    row = node.end_point[0]
    while after is not None and (after.type == "comment" or _text(after) in {",", ";"}):
        if after.type == "comment":
            if after.start_point[0] > row or not _text(after).startswith("///<"):
                break
            lines.append(_text(after))
            row += 1
        after = after.next_sibling
    return "\n".join(lines)


def _is_behind(comment: Node) -> bool:
    """Whether a comment belongs to what stands before it on the same line."""
    before = comment.prev_sibling
    return before is not None and before.end_point[0] == comment.start_point[0]


def _name(node: Node) -> str:
    """The name of an entity, as a reader looks for it."""
    named: Node | None = node
    while named is not None and named.type not in {"identifier", "field_identifier"}:
        for field in ("declarator", "name"):
            if (inner := named.child_by_field_name(field)) is not None:
                break
        else:
            inner = next((c for c in named.named_children if "declarator" in c.type), None)
            if inner is None:
                kind = named.child_by_field_name("type")
                inner = kind if kind is not None and kind.type in _TYPES else None
        if inner is None:
            return _text(named).split("\n", maxsplit=1)[0]
        named = inner
    return _text(named) if named is not None else ""


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def main(headers: list[str]) -> int:
    """Prints the gaps of all headers but those in a folder ``detail``; 1 where there are any."""
    found = 0
    for header in headers:
        path = Path(header)
        if "detail" in path.parts:
            continue
        for gap in gaps(path.read_text(encoding="utf-8")):
            print(f"{header}:{gap.line}: {gap.name} {gap.problem}")
            found += 1
    if found:
        print(f"{found} gaps: describe units, ranges, errors and threads where they matter")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
