# SPDX-License-Identifier: Apache-2.0
"""What a comparison of two runs finds: for each cell, and each quantity of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from takt.statistics.growth import Outcome, Share
from takt.statistics.judgement import Outcome as Meets
from takt.statistics.ratios import Shift

__all__ = ["Comparison", "Judged", "KeyComparison", "Outcome", "Share", "Shift"]


@dataclass(frozen=True)
class Judged:
    """One quantity of a cell: p50, p99, late, lost, settings, completion, samples."""

    quantity: str
    outcome: Outcome
    reason: str
    needed: int | None = None  # repetitions in each run that would decide; None: unknown
    disturbed: bool = False  # only disturbed cells have grown: no number of them decides


@dataclass
class KeyComparison:
    """What is known of one key in both runs."""

    key: str
    changes: dict[str, Shift] = field(default_factory=dict)  # by name in QUANTILES
    regressed: bool = False
    lost: tuple[int, int] = (0, 0)
    absent: tuple[int, int] = (0, 0)  # lost, or never sent
    sides: tuple[Meets, Meets] = (Meets.undecided, Meets.undecided)  # each run by itself
    otherwise: bool = False  # whether the two ran under different policies
    repetitions: tuple[int, int] = (0, 0)
    notes: list[str] = field(default_factory=list)
    shares: dict[str, Share] = field(default_factory=dict)  # late, lost
    judged: list[Judged] = field(default_factory=list)

    def judge(self, one: Judged) -> None:
        """Add the answer to one quantity."""
        self.judged.append(one)
        self.regressed |= one.outcome is Outcome.regressed

    def of(self, outcome: Outcome) -> list[Judged]:
        """The quantities with that outcome."""
        return [one for one in self.judged if one.outcome is outcome]

    @property
    def outcome(self) -> Outcome:
        """A regression of any quantity is one of the cell."""
        if self.regressed:
            return Outcome.regressed
        return Outcome.undecided if self.of(Outcome.undecided) else Outcome.unchanged

    @property
    def needed(self) -> int | None:
        """Repetitions in each run that would decide all that is undecided; None: unknown."""
        every = [one.needed for one in self.of(Outcome.undecided)]
        known = [one for one in every if one is not None]
        return max(known) if known and len(known) == len(every) else None


@dataclass(frozen=True)
class Comparison:
    """Two runs compared; ``only_a`` and ``only_b`` are keys that the other run does not have."""

    cells: list[KeyComparison]
    only_a: list[str]
    only_b: list[str]
    notes: list[str]
    gone: list[str] = field(default_factory=list)  # of only_a: those that A measured

    @property
    def regressed(self) -> bool:
        """Whether any cell got worse, or does not work any more."""
        return bool(self.gone) or any(cell.regressed for cell in self.cells)

    @property
    def undecided(self) -> list[KeyComparison]:
        """Cells for which the data cannot decide."""
        return [cell for cell in self.cells if cell.outcome is Outcome.undecided]

    @property
    def outcome(self) -> Outcome:
        """Of all cells together."""
        if self.regressed:
            return Outcome.regressed
        return Outcome.undecided if self.undecided else Outcome.unchanged
