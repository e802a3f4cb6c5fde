# SPDX-License-Identifier: Apache-2.0
"""Which headers, of the standard library and our own, are precompiled for which sources.

They are most of what a compiler reads. A precompiled header comes first, and so hides that another
one was forgotten. Hence a source only gets headers that it, or one of our own headers in it, names
itself: what nobody includes is still not there. Sources share a precompiled header where that
saves more reading than it costs, by the sizes of all that the headers include.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import TypeVar

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
LARGE = ("gtest/gtest.h", "nlohmann/json.hpp", "CLI/CLI.hpp")  # beside those of the library
MAKING = 2  # to read and to write it, in what it costs to read it
LOADING = 100_000  # what a source could read instead of looking for a precompiled header, in bytes

Key = TypeVar("Key", bound=Hashable)
Headers = frozenset[str]


class Library:
    """The standard library and what lies beside it, as text."""

    def __init__(self, folders: Iterable[Path]) -> None:
        """Where it lies, its own folder first; then where our own headers, and others, are."""
        self._folders = list(folders)
        self._all_of = cache(self._look_at)

    def has(self, name: str) -> bool:
        """Whether a header may be precompiled: those of C depend on what was defined before."""
        return name in LARGE or (self._folders[0] / name).is_file()  # also an absolute path

    def size(self, headers: Headers) -> int:
        """What the compiler reads of all that they include, in bytes."""
        files = frozenset[Path]().union(*(self._all_of(one) for one in headers))
        return sum(map(_size, files))

    def _look_at(self, header: str) -> frozenset[Path]:
        found: set[Path] = set()
        left = [(Path(), header)]
        while left:
            near, name = left.pop()
            places = [near, *self._folders]
            file = next((one / name for one in places if (one / name).is_file()), None)
            if file is not None and file not in found:
                found.add(file)
                left += [(file.parent, one) for _, one in included(file)]
        return frozenset(found)


@cache
def _size(file: Path) -> int:
    return file.stat().st_size


@cache
def included(file: Path) -> list[tuple[str, str]]:
    """What it includes: how it is quoted, and its name."""
    return INCLUDE.findall(file.read_text(encoding="utf-8", errors="replace"))


def named(source: Path, folders: Iterable[Path], ours: Path) -> Headers:
    """What a source, or a header of ours in it, includes: of others by name, of ours by path."""
    names, visited, left = set(), {source}, [source]
    places = list(folders)
    while left:
        file = left.pop()
        for _, name in included(file):
            found = [one / name for one in (file.parent, *places) if (one / name).is_file()]
            own = [one.resolve() for one in found[:1] if one.resolve().is_relative_to(ours)]
            left += [one for one in own if one not in visited]
            visited |= set(own)
            names |= set(map(str, own)) if own else {name}
    return frozenset(names)


def shared(wanted: Mapping[Key, Headers], library: Library) -> dict[Key, Headers]:
    """The headers that are precompiled for each; none where that does not pay."""
    size = cache(library.size)
    groups: dict[Headers, list[Key]] = {}
    for key, headers in wanted.items():
        groups.setdefault(frozenset(filter(library.has, headers)), []).append(key)

    def cost(headers: Headers, users: int) -> int:
        """Of making it, less what its users then need not read."""
        return MAKING * size(headers) - users * (size(headers) - LOADING)

    def saved(pair: tuple[Headers, Headers]) -> int:
        one, other = pair
        users = len(groups[one]), len(groups[other])
        return cost(one, users[0]) + cost(other, users[1]) - cost(one & other, sum(users))

    pairs = {pair: saved(pair) for pair in combinations(groups, 2)}
    while pairs and pairs[best := max(pairs, key=pairs.__getitem__)] > 0:
        users = [*groups.pop(best[0]), *groups.pop(best[1])]
        both = best[0] & best[1]
        groups.setdefault(both, []).extend(users)
        pairs = {pair: gain for pair, gain in pairs.items() if not {*best, both} & {*pair}}
        pairs |= {(both, one): saved((both, one)) for one in groups if one != both}
    return {
        key: headers if cost(headers, len(users)) < 0 else frozenset()
        for headers, users in groups.items()
        for key in users
    }
