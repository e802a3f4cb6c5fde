# SPDX-License-Identifier: Apache-2.0
"""A row of the doctor's table: what is read, what it means, why it matters, how to fix it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from takt.doctor.finding import Finding, Severity
from takt.machine.settings import BY_FINDING, is_wanted
from takt.machine.system import System


class Judgement(NamedTuple):
    """What a machine's answer means."""

    severity: Severity
    value: str
    fix: str | None = None
    why: str | None = None  # None: the row's


BY_HAND = "<by hand>"  # as a fix: the command of the setting in machine/ that names the finding
good = partial(Judgement, Severity.good)
note = partial(Judgement, Severity.note)
warning = partial(Judgement, Severity.warning)
problem = partial(Judgement, Severity.problem)
unknown = partial(Judgement, Severity.unknown)
UNREADABLE = unknown("could not be read")


@dataclass(frozen=True)
class Check:
    """One row of the doctor's table."""

    id: str
    title: str
    judge: Callable[[System], Judgement | None]  # None where the question does not arise
    why: str

    def ask(self, system: System) -> Finding | None:
        """The finding; a file in an unknown form must not cost the other answers."""
        try:
            found = self.judge(system)
            return found and self._finding(found, system)
        except (ValueError, LookupError, OSError) as error:
            why = "This machine answers in a form that Takt does not know; please report it."
            return self._finding(unknown(f"could not be understood: {error}", why=why), system)

    def _finding(self, found: Judgement, system: System) -> Finding:
        setting = BY_FINDING.get(self.id) if found.fix else None
        return Finding(
            id=self.id,
            title=self.title,
            severity=found.severity,
            value=found.value,
            why=found.why or self.why,
            fix=setting.by_hand(system) if setting and found.fix == BY_HAND else found.fix,
            setting=setting.id if setting and is_wanted(setting, system) else None,
        )


def switch(path: str) -> Callable[[System], Judgement]:
    """Judges a kernel's switch, a file of 0 or 1, that is better off."""

    def judge(system: System) -> Judgement:
        value = system.number(path)
        if value is None:
            return UNREADABLE
        return note("on", BY_HAND) if value else good("off")

    return judge
