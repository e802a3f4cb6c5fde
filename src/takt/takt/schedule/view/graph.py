# SPDX-License-Identifier: Apache-2.0
"""Where nodes and topics stand in a picture: in columns, from the sources of the data on.

Sugiyama's steps in their simplest form: back edges of cycles are set aside, columns are longest
paths, and within them what belongs together is brought close (barycenters).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from takt.pages import text
from takt.schedule.trace.summary import TaskSummary
from takt.schedule.view.figures import Latencies, Topic

OUTSIDE = "not recorded"  # the node that writes what nobody in the trace does
_WIDE, _HIGH = 190, 46  # of a box, px
_STEP, _LINE = 300, 64  # from column to column, from box to box
SHORTEST_US = 1.0  # of a response that is told: a publication is a moment, not a job
_SWEEPS = 6
_LETTERS = 22  # of a name that a box has room for

Key = tuple[str, str]  # kind and name


@dataclass(frozen=True)
class Box:
    """A node or a topic; px."""

    kind: str
    name: str
    text: str  # shortened
    line: str  # below it
    mark: str  # its class; empty: none
    x: int
    y: int
    wide: int = _WIDE
    high: int = _HIGH


@dataclass(frozen=True)
class Edge:
    """From box to box; px."""

    path: str
    text: str
    x: float
    y: float


@dataclass(frozen=True)
class Graph:
    """The picture; px."""

    boxes: list[Box]
    edges: list[Edge]
    width: int
    height: int


def node_of(callback: str) -> str:
    """Of ``node.callback``; the namespace may have dots, a callback's topic too."""
    return callback.partition(".")[0]


def graph(tasks: Sequence[TaskSummary], topics: Sequence[Topic]) -> Graph:
    """Nodes with their callbacks' slowest response, topics with their rate."""
    late: dict[str, int] = defaultdict(int)
    slowest: dict[str, float] = defaultdict(float)
    count: dict[str, int] = defaultdict(int)
    for one in tasks:
        if one.jobs or one.unfinished:
            node = node_of(one.task)
            late[node] += one.misses
            slowest[node] = max(slowest[node], one.response_max_us or 0)
            count[node] += 1
    links: dict[tuple[Key, Key], Latencies | None] = {}
    for topic in topics:
        key = ("topic", topic.name)
        for writer in topic.writers:
            links[("node", node_of(writer) if writer else OUTSIDE), key] = None
        for reader, taken in topic.readers.items():
            link = key, ("node", node_of(reader))
            known = links.get(link)
            links[link] = taken if known is None or known.p99 < taken.p99 else known
    keys: list[Key] = [("node", node) for node in count]
    keys += [("topic", topic.name) for topic in topics]
    keys += sorted({one for link in links for one in link} - set(keys))
    rates = {topic.name: topic.rate for topic in topics}
    lines = {}
    for kind, name in keys:
        if kind == "topic":
            hz = rates.get(name)
            line = "once" if hz is None else f"{hz:.4g} Hz"
        elif name == OUTSIDE:
            line = "a writer without a recording"
        else:
            some = "1 callback" if count[name] == 1 else f"{count[name]} callbacks"
            slow = slowest[name]
            longest = f", max {slow / 1000:.4g} ms" if slow >= SHORTEST_US else ""
            line = f"{text.count(late[name])} missed{longest}" if late[name] else f"{some}{longest}"
        lines[kind, name] = line
    marked = {("node", node): "late" for node, misses in late.items() if misses}
    texts = {
        link: "" if taken is None else f"{taken.p50:.3g} · {taken.p99:.3g} ms"
        for link, taken in links.items()
    }
    return drawn(lines, texts, marked)


def drawn(
    lines: Mapping[Key, str], links: Mapping[tuple[Key, Key], str], marked: Mapping[Key, str]
) -> Graph:
    """Boxes with a line below their name, edges with a text, and classes of some boxes."""
    columns = _columns(list(lines), list(links))
    places = _ordered(columns, list(links))
    boxes = {}
    for key, line in lines.items():
        kind, name = key
        x, y = 10 + columns[key] * _STEP, 10 + places[key] * _LINE
        boxes[key] = Box(kind, name, _short(name), line, marked.get(key, ""), x, y)
    edges = [_edge(boxes[a], boxes[b], text) for (a, b), text in links.items()]
    width = max((box.x + _WIDE for box in boxes.values()), default=0) + 10
    height = max((box.y + _HIGH for box in boxes.values()), default=0) + 10
    return Graph(list(boxes.values()), edges, width, height)


def _short(name: str) -> str:
    return name if len(name) <= _LETTERS else f"…{name[1 - _LETTERS :]}"


def _edge(a: Box, b: Box, text: str) -> Edge:
    x0, y0, x1, y1 = a.x + _WIDE, a.y + _HIGH / 2, b.x, b.y + _HIGH / 2
    middle: tuple[float, float] = (x0 + x1) / 2, (y0 + y1) / 2
    if x1 <= a.x:  # back to an earlier column: around below
        low = max(a.y, b.y) + _HIGH + 12
        path = f"M{x0} {y0}C{x0 + 60} {low} {x1 - 60} {low} {x1} {y1}"
        middle = (x0 + x1) / 2, low
    else:
        path = f"M{x0} {y0}C{x0 + 50} {y0} {x1 - 50} {y1} {x1} {y1}"
    return Edge(path, text, *middle)


def _columns(keys: Sequence[Key], links: Sequence[tuple[Key, Key]]) -> dict[Key, int]:
    """Each as far right as its longest path, cycles left out."""
    follows: dict[Key, list[Key]] = defaultdict(list)
    for a, b in links:
        follows[a].append(b)
    fed = {b for _, b in links}
    heads = [key for key in keys if key not in fed] + [key for key in keys if key in fed]
    order: list[Key] = []
    state: dict[Key, int] = {}
    back: set[tuple[Key, Key]] = set()
    for head in heads:
        if head in state:
            continue
        state[head] = 1
        stack = [(head, iter(follows[head]))]
        while stack:
            key, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[key] = 2
                order.append(key)
                stack.pop()
            elif following not in state:
                state[following] = 1
                stack.append((following, iter(follows[following])))
            elif state[following] == 1:
                back.add((key, following))
    found = dict.fromkeys(keys, 0)
    for key in reversed(order):
        for following in follows[key]:
            if (key, following) not in back:
                found[following] = max(found[following], found[key] + 1)
    return found


def _ordered(columns: dict[Key, int], links: Sequence[tuple[Key, Key]]) -> dict[Key, int]:
    """The place of each in its column."""
    beside: dict[Key, list[Key]] = defaultdict(list)
    for a, b in links:
        beside[a].append(b)
        beside[b].append(a)
    by_column: dict[int, list[Key]] = defaultdict(list)
    for key, column in columns.items():
        by_column[column].append(key)
    places = {key: place for keys in by_column.values() for place, key in enumerate(keys)}
    for sweep in range(_SWEEPS):
        for column in sorted(by_column, reverse=bool(sweep % 2)):
            keys = by_column[column]
            weight = {
                key: sum(places[one] for one in beside[key]) / len(beside[key])
                if beside[key]
                else float(places[key])
                for key in keys
            }
            keys.sort(key=lambda key: (weight[key], key))
            places |= {key: place for place, key in enumerate(keys)}
    return places
