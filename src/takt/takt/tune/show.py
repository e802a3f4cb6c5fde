# SPDX-License-Identifier: Apache-2.0
"""Places on a terminal: a line for all of a setting that are alike, with what each costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from takt.machine.settings import BY_ID
from takt.tune.outcome import PlaceOutcome, Result

_STYLES: dict[Result, str] = {
    "changed": "green",
    "restored": "green",
    "refused": "bold red",
    "left": "bold red",
    "unread": "magenta",
}


def show(console: Console, places: Sequence[PlaceOutcome], *, why: bool) -> None:
    """Print what is planned or became of each setting; with ``why``, also its reason and price."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("setting", "where", "before", "wanted", ""):
        table.add_column(name, overflow="fold")
    groups: dict[tuple[str, str, str, str, str], list[PlaceOutcome]] = {}
    for one in places:
        key = (one.setting, one.before or "", one.wanted or "", one.result, one.told or "")
        groups.setdefault(key, []).append(one)
    for (setting, before, wanted, result, _), alike in groups.items():
        first = alike[0].where
        where = first if len(alike) == 1 else f"{first} and {len(alike) - 1} more"
        style = _STYLES.get(alike[0].result, "")
        table.add_row(*map(Text, (setting, where, before, wanted)), Text(result, style=style))
    console.print(table)
    for key, alike in groups.items():
        if told := key[-1]:
            _tell(console, f"{key[0]}, {alike[0].where}: {told}")
    if why:
        for name in dict.fromkeys(one.setting for one in places):
            known = BY_ID[name]
            cost = f" Costs: {known.caution}." if known.caution else ""
            _tell(console, f"{name}: {known.why}{cost}")


def count(places: Sequence[PlaceOutcome]) -> str:
    """Sum up in a line, such as ``20 changed, 1 refused``."""
    return ", ".join(f"{n} {result}" for result, n in Counter(p.result for p in places).items())


def _tell(console: Console, line: str) -> None:
    console.print(Text(f"  {line}"), soft_wrap=True)
