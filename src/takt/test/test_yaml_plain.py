# SPDX-License-Identifier: Apache-2.0
"""Plain YAML means the same to both readers, line by line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.documents import yaml_plain, yaml_tree
from takt.documents.yaml_file import _plain
from takt.errors import TaktError

ROOT = Path(__file__).parents[3]
PIECES = ["a", "b c", "node", "10ms", "1.5", "7", "0", "00", "1e3", "0x1", "1_0", "é", "1 s", "+1"]
PIECES += ["- ", "-", ": ", ":", ", ", ",", "{", "}", "[", "]", "\n", "\n  ", "\n    ", "\n- "]
PIECES += [" # c", "#", "'", '"', "''", "true", "No", "null", "~", "=", "/t", ".5", "2001-01-01"]


def plain(text: str) -> Any:
    return yaml_plain.parse(text, most_nodes=1000, most_depth=20)


def whole(text: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    def refuse(*_: object, **__: object) -> Any:
        raise yaml_plain.NotPlainError

    with monkeypatch.context() as patched:
        patched.setattr(yaml_plain, "parse", refuse)
        return yaml_tree.parse(text, "file")


def lines(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return [(key, node.lc.key(key)[0], lines(value)) for key, value in node.items()]
    if isinstance(node, list):
        return [(node.lc.item(place)[0], lines(value)) for place, value in enumerate(node)]
    return [repr(_plain(node))]


def check(text: str) -> bool:
    """Whether it is plain."""
    try:
        tree = plain(text)
    except yaml_plain.NotPlainError:
        return False
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert lines(tree) == lines(whole(text, monkeypatch))
    return True


@settings(max_examples=1000, derandomize=True, database=None, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_what_is_plain_means_the_same_to_both_readers(text: str) -> None:
    check("a: " + text)


def test_the_examples_are_plain() -> None:
    files = sorted((ROOT / "examples").glob("**/*.app.yaml"))
    assert files
    assert [file.name for file in files if not check(file.read_text())] == []


@pytest.mark.parametrize(
    "text",
    [
        "a: &x 1\nb: *x\n",
        "a: 1\na: 2\n",
        "a: !t 1\n",
        "--- \na: 1\n",
        "a: |\n  b\n",
        "1: a\n",
        "[a]",
    ],
)
def test_what_is_not_plain_is_left_to_the_other_reader(text: str) -> None:
    with pytest.raises(yaml_plain.NotPlainError):
        plain(text)


def test_a_mistake_is_reported_as_before() -> None:
    with pytest.raises(TaktError, match="not valid YAML"):
        yaml_tree.parse("a: [1\n", "file")
