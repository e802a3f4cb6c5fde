# SPDX-License-Identifier: Apache-2.0
"""The paths of data through an application: from what nobody's data feeds to what nobody reads."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from takt.schedule.model.observed import ObservedCallback

MOST = 256  # paths that are followed; an application may have more than anybody looks at
_MOST_STEPS = 100_000


def chains(followers: Mapping[str, list[str]]) -> tuple[list[list[str]], bool]:
    """The longest first; and whether there are more. No path goes through a callback twice."""
    fed = {name for names in followers.values() for name in names}
    heads = [name for name, after in followers.items() if name not in fed and after]
    found: list[list[str]] = []
    steps = 0
    for head in heads:
        for path in _paths(head, followers):
            found.append(path)
            steps += len(path)
            if steps > _MOST_STEPS:
                return _longest(found), True
    return _longest(found), len(found) > MOST


def _longest(paths: list[list[str]]) -> list[list[str]]:
    return sorted(paths, key=len, reverse=True)[:MOST]


def followers_of(
    callbacks: list[ObservedCallback], drivers: Mapping[str, set[str]] = {}
) -> dict[str, list[str]]:
    """By callback, those that a topic which it writes releases, or that read it.

    ``drivers``: the topics that they write.
    """
    found: dict[str, list[str]] = {}
    for one in callbacks:
        written = set(one.writes)
        found[one.name] = [
            other.name for other in callbacks if other is not one and _takes(other, written)
        ]
    for driver, topics in drivers.items():
        found[driver] = [one.name for one in callbacks if _takes(one, topics)]
    return found


def _takes(reader: ObservedCallback, written: set[str]) -> bool:
    return reader.trigger in written or not written.isdisjoint(reader.reads)


def _paths(head: str, followers: Mapping[str, list[str]]) -> Iterator[list[str]]:
    """Depth first, without recursion."""
    stack = [[head]]
    while stack:
        path = stack.pop()
        onwards = [name for name in followers[path[-1]] if name not in path]
        if not onwards:
            yield path
        stack += [[*path, name] for name in reversed(onwards)]


def names(paths: list[list[str]], taken: Container[str] = ()) -> dict[str, list[str]]:
    """A name for each that is not taken: its ends, and a number where they are not enough."""
    found: dict[str, list[str]] = {}
    for path in paths:
        ends = "_to_".join(path[place].replace(".", "_") for place in (0, -1))[:96]
        name, number = ends, 1
        while name in found or name in taken:
            number += 1
            name = f"{ends}_{number}"
        found[name] = path
    return found
