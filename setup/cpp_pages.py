# SPDX-License-Identifier: Apache-2.0
"""The C++ API as pages: what each public header declares, with its comments, without the rest.

Public is what stands in an ``include`` folder, in no folder or namespace ``detail`` and in no
private or protected part of a class. Bodies of functions, includes, deleted functions and what
tells the linker of visibility are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from setup.distributions import ROOT

from takt.pages.markdown import escaped

if TYPE_CHECKING:
    from tree_sitter import Node

GENERATED = "<!-- Made from the headers: setup/documentation.py -->"
# Each page, the folder of its headers, and what they are for.
PAGES = {
    "takt_rcl": ("takt_rcl/include/takt/rcl", "takt_rcl: the library for robots"),
    "takt_rclcpp": ("takt_rclcpp/include/takt/rclcpp", "takt_rclcpp: unmodified rclcpp nodes"),
    "executor": ("takt_core/include/takt/executor", "takt_core: the executor without ROS"),
    "sched": ("takt_core/include/takt/sched", "takt_core: tasks, policies, decisions"),
    "application": ("takt_core/include/takt/application", "takt_core: described applications"),
    "analysis": ("takt_core/include/takt/analysis", "takt_core: schedulability analysis"),
    "sim": ("takt_core/include/takt/sim", "takt_core: simulation"),
    "trace": ("takt_core/include/takt/trace", "takt_core: traces"),
    "stats": ("takt_core/include/takt/stats", "takt_core: statistics"),
    "os": ("takt_core/include/takt/os", "takt_core: the operating system"),
}
_NOTHING = re.compile(r"^(?:namespace .*\{|\} *// namespace.*|class \w+;)$", re.MULTILINE)
# With what follows of a declaration on further lines, which are aligned with the first.
_VISIBILITY = re.compile(r"\b(TAKT_\w+_(?:PUBLIC|LOCAL) )([^;{}]*)")
_HIDDEN = {"preproc_include", "preproc_call", "friend_declaration"}


def write(folder: Path = ROOT / "docs" / "reference" / "cpp") -> None:
    """Writes every page; git ignores them."""
    for name in PAGES:
        (folder / f"{name}.md").write_text(page(ROOT / "src", name), encoding="utf-8")


def page(sources: Path, name: str) -> str:
    """The page of that name, from the headers below ``sources`` (the folder ``src``)."""
    folder, title = PAGES[name]
    lines = [GENERATED, f"# {title}", ""]
    for header in sorted((sources / folder).glob("*.hpp")):
        if header.name == "visibility.hpp":
            continue
        text = header.read_text(encoding="utf-8")
        said = prose(text)
        declared = declarations(text)
        if declared:
            include = header.relative_to(sources / folder.split("/", maxsplit=1)[0] / "include")
            lines += [f"## {include}", "", *said, "", "```cpp", declared, "```", ""]
    return "\n".join(lines)


def prose(header: str) -> list[str]:
    """The comment at the head of a file as Markdown; what is indented in it stays as it is."""
    lines: list[str] = []
    indented = fenced = False
    for line in header.splitlines()[1:]:  # after the licence
        if not line.startswith("//"):
            break
        said = line.removeprefix("///").removeprefix("//").removeprefix(" ").rstrip()
        if said == "@file" or not (said or lines):
            continue
        if said.startswith("```") or fenced:
            fenced = fenced != said.startswith("```")
            lines.append("```text" if said == "```" and fenced else said)
            continue
        if said and said.startswith("  ") != indented:
            indented = not indented
            while lines and not lines[-1]:
                lines.pop()
            lines += ["", "```text"] if indented else ["```", ""]
        lines.append(said if indented else escaped(said))
    return [*lines, "```"] if indented else lines


def declarations(header: str) -> str:
    """What a header declares to others; empty where that is nothing."""
    root = parsed(header)
    source = root.text or b""
    head = re.match(rb"(//.*\n)*", source)
    kept, end = [], head.end() if head else 0
    for first, last, instead in _cuts(root):
        if first >= end:
            before = source[end:first].decode()
            kept += [before.rstrip() if instead is not None else before, instead or ""]
            end = last
    text = "".join([*kept, source[end:].decode()])
    if not _NOTHING.sub("", text).strip():
        return ""
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\n{3,}", "\n\n", text)
    text = re.sub(r"(\{|^ public:)\n\n", r"\1\n", text, flags=re.MULTILINE)
    return re.sub(r"\n\n( *\})", r"\n\1", text).strip()


def parsed(header: str) -> Node:
    """The syntax tree of a header without its macros of visibility; lines keep their numbers."""
    import tree_sitter
    import tree_sitter_cpp

    source = _VISIBILITY.sub(_without_macro, header).encode()
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))
    return parser.parse(source).root_node


def public_children(node: Node) -> Iterator[Node]:
    """The children of a node that others may use."""
    for child, hidden in _children(node):
        if not hidden:
            yield child


def _children(node: Node) -> Iterator[tuple[Node, bool]]:
    """The children of a node, and whether they are hidden from others."""
    members = node.type == "field_declaration_list"
    hidden = members and node.parent is not None and node.parent.type == "class_specifier"
    for child in node.children:
        if members and child.type == "access_specifier":
            hidden = child.text != b"public"
        yield child, (hidden and child.type not in {"{", "}"}) or _is_hidden(child)


def _without_macro(found: re.Match[str]) -> str:
    """What stands behind the macro, and further lines as far to the left as it was long."""
    return re.sub(rf"\n {{{len(found[1])}}}(?= )", "\n", found[2])


def _cuts(node: Node) -> Iterator[tuple[int, int, str | None]]:
    """Ranges of bytes that are nobody's business, in order; what stands there instead.

    Something instead of them (perhaps nothing) goes right behind what is before; None takes whole
    lines.
    """
    for child, hidden in _children(node):
        if hidden:
            yield *_lines(child), None
        elif child.type == "field_initializer_list":
            yield child.start_byte, child.end_byte, ""
        elif child.type == "compound_statement":
            yield child.start_byte, child.end_byte, ";"
        else:
            yield from _cuts(child)


def _lines(node: Node) -> tuple[int, int]:
    """The range of a node; whole lines, with the comment behind, where it has them alone."""
    source = node
    while source.parent is not None:
        source = source.parent
    text = source.text or b""
    first = text.rfind(b"\n", 0, node.start_byte) + 1
    behind = re.compile(rb":?;?[ \t]*(//.*)?\n").match(text, node.end_byte)
    if text[first : node.start_byte].strip() or behind is None:
        return node.start_byte, node.end_byte
    return first, behind.end()


def _is_hidden(node: Node) -> bool:
    if node.type in _HIDDEN:
        return True
    text = node.text or b""
    if node.type == "namespace_definition":
        return re.match(rb"namespace [\w:]*\bdetail\b", text) is not None
    if node.type == "comment":
        return b"NOLINT" in text
    return node.type in {"function_definition", "declaration"} and text.endswith(b"= delete;")
