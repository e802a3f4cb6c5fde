# SPDX-License-Identifier: Apache-2.0
"""Plug-ins: what installed distributions add to the tool by entry points.

The tool imports no plug-in by name; it reads entry points of these groups:

- ``takt.commands``: name of the command = a typed function, as in the modules of ``takt.cli``
- ``takt.papers``: name of the paper = a package with ``reproduce`` and ``criteria``
- ``takt.stacks``: name of the stack = a function that returns the path of its probe
- ``takt.reports``: name of a document = a function that writes the report of its folder
- ``takt.reference``: page below ``docs/reference`` = a model, or a function that returns the text
"""

from __future__ import annotations

import functools
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from takt.errors import Failure

COMMANDS, PAPERS, STACKS = "takt.commands", "takt.papers", "takt.stacks"
REPORTS, REFERENCE = "takt.reports", "takt.reference"


@dataclass(frozen=True)
class PlugIn:
    """One entry point of an installed distribution."""

    entry: EntryPoint

    @property
    def distribution(self) -> str:
        """Name and version of the distribution that declares it."""
        owner = self.entry.dist
        return f"{owner.name} {owner.version}" if owner else "an unknown distribution"

    def load(self, use: Callable[[Any], Any] = lambda one: one) -> Any:
        """The object that it names, as ``use`` returns it; raises Failure if either raises."""
        try:
            return use(self.entry.load())
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is not our code
            last = traceback.format_exception_only(error)[-1].strip()
            raise Failure(
                f"plug-in {self.entry.name} ({self.entry.group}) of {self.distribution} "
                f"does not load: {last}",
                where=self.entry.value,
                fix=f"repair or uninstall {self.distribution.split()[0]}",
            ) from None


def found(group: str) -> dict[str, PlugIn]:
    """The plug-ins of a group by name, without importing them; sorted.

    If two distributions use one name, the first on the import path wins.
    """
    return _found(group, tuple(sys.path))


def loaded(group: str, use: Callable[[Any], Any] = lambda one: one) -> dict[str, Any]:
    """The objects of a group by name. A plug-in that does not load is reported and left out."""
    every = {}
    for name, plug_in in found(group).items():
        try:
            every[name] = plug_in.load(use)
        except Failure as error:
            _report(str(error))
    return every


@functools.cache
def _found(group: str, path: tuple[str, ...]) -> dict[str, PlugIn]:  # noqa: ARG001 - the key
    every: dict[str, PlugIn] = {}
    for entry in entry_points(group=group):
        every.setdefault(entry.name, PlugIn(entry))
    return dict(sorted(every.items()))


@functools.cache
def _report(text: str) -> None:
    """Once in a process."""
    sys.stderr.write(f"warning: {text}\n")
