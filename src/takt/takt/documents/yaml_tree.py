# SPDX-License-Identifier: Apache-2.0
"""YAML as a tree of bounded size.

An alias stands for all that its anchor holds, so a few lines can mean more than a memory holds, or
hold themselves. Nodes are counted as if every alias were written out, while they are composed.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer, ComposerError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent

from takt.documents import yaml_plain
from takt.errors import TaktError

MOST_BYTES = 1 << 20  # some ten thousand callbacks
MOST_NODES = 200_000
MOST_DEPTH = 50


def parse(text: str, where: str) -> Any:
    """The document with its line numbers; raises TaktError with the line."""
    if len(text) > MOST_BYTES:
        raise TaktError(
            f"the file exceeds the YAML limit of {MOST_BYTES >> 20} MiB",
            where=where,
            fix="check that this is the right file; split it, or omit keys with a default value",
        )
    with contextlib.suppress(yaml_plain.NotPlainError):
        return yaml_plain.parse(text, most_nodes=MOST_NODES, most_depth=MOST_DEPTH // 2)
    yaml = YAML(typ="rt")
    yaml.Composer = _Bounded
    try:
        return yaml.load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        problem = (error.problem or str(error)).split("\n")[0]
        raise _fault(problem, f"{where}{line}") from None
    except YAMLError as error:
        raise _fault(str(error), where) from None
    except RecursionError:
        raise _fault("it is nested too deeply", where) from None
    except Exception as error:  # noqa: BLE001 - ruamel lets through what its parts raise
        raise _fault(f"{type(error).__name__}: {error}", where) from None


_DUPLICATE = re.compile(r'found duplicate key "(?P<key>.*?)"')
_TAB = r"found character '\t'"


def _fault(problem: str, where: str) -> TaktError:
    """What people do wrong most often has a sentence of its own."""
    if twice := _DUPLICATE.match(problem):
        what = f"not valid YAML: the key {twice['key']} is there twice"
        return TaktError(what, where=where, fix="remove one of them")
    if problem.startswith(_TAB):
        return TaktError("not valid YAML: a tab", where=where, fix="indent with spaces")
    fix = "check the brackets, quotes and indentation of this line and of those before it"
    return TaktError(f"not valid YAML: {problem}", where=where, fix=fix)


class _Bounded(Composer):
    """Counts what it composes."""

    def __init__(self, loader: Any = None) -> None:
        super().__init__(loader=loader)
        self.warn_double_anchors = False  # the later one holds, as YAML 1.2 has it
        self._sizes: dict[int, int] = {}  # by the identity of nodes that are whole
        self._counts = [0]  # of the nodes around this place, the innermost last

    def compose_node(self, parent: Any, index: Any) -> Any:
        """As the base's; raises ComposerError above a bound."""
        event = self.parser.peek_event()
        if len(self._counts) > MOST_DEPTH:
            raise ComposerError(None, None, "it is nested too deeply", event.start_mark)
        self._counts.append(1)
        node = super().compose_node(parent, index)
        size = self._counts.pop()
        if isinstance(event, AliasEvent):
            if id(node) not in self._sizes:
                what = f"the alias {event.anchor} refers to itself"
                raise ComposerError(None, None, what, event.start_mark)
            size = self._sizes[id(node)]
        self._sizes[id(node)] = size
        self._counts[-1] += size
        if self._counts[-1] > MOST_NODES:
            what = f"it has more than {MOST_NODES} values after alias expansion"
            raise ComposerError(None, None, what, event.start_mark)
        return node
