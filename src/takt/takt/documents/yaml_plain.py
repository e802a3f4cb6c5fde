# SPDX-License-Identifier: Apache-2.0
"""Plain YAML, read by libyaml: ten times as fast as the reader of all of it.

Most files need mappings, lists, words and numbers only. Whatever else stands in one, what may mean
something else to libyaml, and every mistake is left to the other reader (``yaml_tree``), whose
answer counts.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

# Escapes, directives, tabs, complex keys, anchors, tags, blocks of text: what is rare, or was read
# otherwise before YAML 1.2.
_UNUSUAL = re.compile(r"[^ -~\n\xa1-\u2027\u202a-\ud7ff]|[\\%?!&*|>@`]|<<")
_WORD = re.compile(r"[A-Za-z_/][^\n]*")
_QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)? ?[a-df-np-wyzA-DF-WYZµ][A-Za-z]*")
_WHOLE = re.compile(r"0|[1-9][0-9]{0,17}")
_DECIMAL = re.compile(r"(0|[1-9][0-9]{0,8})\.[0-9]{1,9}")
_MEANINGS = {"": None, "null": None, "~": None, "true": True, "false": False}


class NotPlainError(Exception):
    """The other reader has to look at it."""


class Lines:
    """Where the values of a container stand; as ruamel's ``lc``."""

    def __init__(self) -> None:
        self.of: dict[Any, int] = {}

    def key(self, key: Any) -> tuple[int, int]:
        """Line of a key, from 0 on, and no column."""
        return self.of[key], 0

    def item(self, position: int) -> tuple[int, int]:
        """The same of an item."""
        return self.key(position)


class Mapping(dict[str, Any]):
    """With the lines of its keys."""

    def __init__(self) -> None:
        super().__init__()
        self.lc = Lines()


class Sequence(list[Any]):
    """With the lines of its items."""

    def __init__(self) -> None:
        super().__init__()
        self.lc = Lines()


def parse(text: str, *, most_nodes: int, most_depth: int) -> Mapping:
    """The document with its line numbers; raises NotPlainError."""
    if _UNUSUAL.search(text):
        raise NotPlainError
    try:
        import yaml
        from yaml.cyaml import CParser
    except ImportError:  # PyYAML, or libyaml in it
        raise NotPlainError from None
    reader = _Reader(yaml, CParser(text), most_nodes, most_depth)
    try:
        return reader.document()
    except yaml.YAMLError:
        raise NotPlainError from None


class _Reader:
    def __init__(self, yaml: Any, parser: Any, most_nodes: int, most_depth: int) -> None:
        self._yaml = yaml
        self._scalar = yaml.ScalarEvent
        self._next = parser.get_event
        self._left = most_nodes
        self._most_depth = most_depth

    def document(self) -> Mapping:
        """The only one of the stream."""
        self._expect(self._yaml.StreamStartEvent)
        if self._expect(self._yaml.DocumentStartEvent).explicit:
            raise NotPlainError
        self._expect(self._yaml.MappingStartEvent)
        tree = self._mapping(1)
        if self._expect(self._yaml.DocumentEndEvent).explicit:
            raise NotPlainError
        self._expect(self._yaml.StreamEndEvent)
        return tree

    def _expect(self, kind: type) -> Any:
        event = self._next()
        if not isinstance(event, kind):
            raise NotPlainError
        return event

    def _mapping(self, depth: int) -> Mapping:
        mapping = Mapping()
        while not isinstance(key := self._next(), self._yaml.MappingEndEvent):
            if not isinstance(key, self._scalar):
                raise NotPlainError
            name = self._value(key, depth)
            if not isinstance(name, str) or name in mapping:
                raise NotPlainError
            mapping[name] = self._value(self._next(), depth)
            mapping.lc.of[name] = key.start_mark.line
        return mapping

    def _sequence(self, depth: int) -> Sequence:
        sequence = Sequence()
        while not isinstance(item := self._next(), self._yaml.SequenceEndEvent):
            sequence.lc.of[len(sequence)] = item.start_mark.line
            sequence.append(self._value(item, depth))
        return sequence

    def _value(self, event: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth >= self._most_depth:
            raise NotPlainError
        if isinstance(event, self._scalar):
            return event.value if event.style else _meant(event.value)
        if isinstance(event, self._yaml.MappingStartEvent):
            return self._mapping(depth + 1)
        if isinstance(event, self._yaml.SequenceStartEvent):
            return self._sequence(depth + 1)
        raise NotPlainError


@lru_cache(maxsize=10_000)
def _meant(text: str) -> str | int | float | bool | None:
    """What a word or number without quotes stands for."""
    if text in _MEANINGS:
        return _MEANINGS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _QUANTITY.fullmatch(text) or (
        _WORD.fullmatch(text) and text.lower() not in {"null", "true", "false"}
    ):
        return text
    raise NotPlainError
