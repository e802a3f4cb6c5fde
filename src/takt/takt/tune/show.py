# SPDX-License-Identifier: Apache-2.0
"""Places on a terminal, by setting: what each holds, should hold, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from textwrap import fill

from rich.console import Console
from rich.text import Text

from takt.machine.settings import BY_ID
from takt.tune.outcome import PlaceOutcome, Result

_STYLES: dict[Result, str] = {
    "changed": "green",
    "restored": "green",
    "refused": "bold red",
    "left": "bold red",
    "damaged": "bold red",
    "unread": "magenta",
    "kept": "magenta",
}
_WIDTH = 100  # longer lines of prose are hard to read


def show(console: Console, places: Sequence[PlaceOutcome], *, why: bool) -> None:
    """Print what is planned or became of each setting; with ``why``, also its reason and price."""
    for name in dict.fromkeys(one.setting for one in places):
        setting = BY_ID.get(name)  # a journal may be of another version
        console.print(Text(f"{setting.title if setting else name} ({name})", style="bold"))
        for alike in _alike([one for one in places if one.setting == name]):
            _line(console, alike)
        if why and setting:
            _prose(console, setting.why)
            if setting.caution:
                _prose(console, f"Drawback: {setting.caution}.")


def count(places: Sequence[PlaceOutcome]) -> str:
    """Sum up in a line, such as ``20 changed, 1 refused``."""
    return ", ".join(f"{n} {result}" for result, n in Counter(p.result for p in places).items())


def _alike(places: Sequence[PlaceOutcome]) -> list[list[PlaceOutcome]]:
    """Those of which there is the same to be said, in one."""
    groups: dict[str, list[PlaceOutcome]] = {}
    for one in places:
        groups.setdefault(one.model_dump_json(exclude={"where"}), []).append(one)
    return list(groups.values())


def _line(console: Console, alike: list[PlaceOutcome]) -> None:
    one = alike[0]
    more = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
    values = f": {one.before}" if one.before is not None else ""
    values += f" -> {one.wanted}" if one.wanted is not None else ""
    result = Text(one.result.ljust(9), style=_STYLES.get(one.result, ""))
    console.print(Text.assemble("  ", result, f" {one.where}{more}{values}"), soft_wrap=True)
    if one.reason:
        _prose(console, one.reason)


def _prose(console: Console, line: str) -> None:
    indent = " " * 4
    width = min(console.width, _WIDTH)
    text = fill(line, width, initial_indent=indent, subsequent_indent=indent)
    console.print(Text(text), soft_wrap=True)
