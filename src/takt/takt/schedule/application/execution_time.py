# SPDX-License-Identifier: Apache-2.0
"""How long one job of a callback computes: a constant, a range, a distribution, or samples.

Whatever it is, the core gets it as quantiles: the inverse of the distribution function at evenly
spaced probabilities from 0 to 1, linear in between.
"""

from __future__ import annotations

from pathlib import Path
from statistics import NormalDist
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema, model_validator
from takt_core import Quantity

from takt.documents import reading, units
from takt.documents.quantities import Duration, Strict
from takt.errors import TaktError

QUANTILES = 1001  # of a distribution: steps of 0.1 %


def _durations(value: object, info: ValidationInfo) -> object:
    """A list of durations, also from a text file beside the app.yaml with one on each line."""
    if not isinstance(value, str):
        return value
    file = (info.context or {}).get("file")
    path = Path(file).parent / value if file else Path(value)
    try:
        lines = reading.read_text(path).splitlines()
    except OSError as error:
        raise ValueError(f"cannot read the samples in {path}: {error.strerror}") from None
    except TaktError as error:
        raise ValueError(f"cannot read the samples in {path}: {error.what}") from None
    times = []
    for number, line in enumerate(lines, 1):
        text = line.split("#")[0].strip()
        try:
            times += [units.parse_duration(text)] if text else []
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}") from None
    return [f"{time}ns" for time in times]


_DURATION = {"type": "string", "pattern": f"^({units.pattern(Quantity.DURATION)})$"}
Samples = Annotated[
    list[Duration],
    Field(min_length=1),
    BeforeValidator(_durations),
    WithJsonSchema({"anyOf": [{"type": "array", "items": _DURATION}, {"type": "string"}]}),
]


class ExecutionTime(Strict):
    """The time that one job computes; `2ms` alone is short for `{worst: 2ms}`."""

    best: Duration | None = Field(
        None, description="shortest time; default: worst, or the shortest sample"
    )
    worst: Duration | None = Field(None, description="longest time; default: the longest sample")
    mean: Duration | None = Field(
        None, description="with deviation: a normal distribution, cut off at best and worst"
    )
    deviation: Duration | None = Field(None, description="standard deviation before cutting off")
    samples: Samples | None = Field(
        None, description="observed times, or the name of a file with one time on each line"
    )

    @model_validator(mode="before")
    @classmethod
    def _constant(cls, value: Any) -> Any:
        return value if isinstance(value, dict) else {"worst": value}

    @model_validator(mode="after")
    def _one_of_four(self) -> ExecutionTime:
        if (self.mean is None) != (self.deviation is None):
            raise ValueError("mean and deviation go together")
        if self.mean is not None and self.samples is not None:
            raise ValueError("samples already define the distribution: remove mean and deviation")
        if self.samples is None and self.worst is None:
            raise ValueError("key worst is missing: the longest execution time of a job")
        if self.mean is not None and self.best is None:
            raise ValueError("key best is missing: the lower limit of the distribution")
        if self.deviation == 0:
            raise ValueError("deviation is 0: write a constant, execution: 2ms")
        best, worst = self.bounds
        if best > worst:
            raise ValueError(
                f"best {units.format_duration(best)} is above worst {units.format_duration(worst)}"
            )
        if self.samples and (least := min(self.samples)) < best:
            raise ValueError(
                f"best {units.format_duration(best)} is above the shortest sample, "
                f"{units.format_duration(least)}"
            )
        if self.samples and (most := max(self.samples)) > worst:
            raise ValueError(
                f"worst {units.format_duration(worst)} is below the longest sample, "
                f"{units.format_duration(most)}"
            )
        if self.mean is not None and not best <= self.mean <= worst:
            raise ValueError("mean is not between best and worst")
        return self

    @property
    def bounds(self) -> tuple[int, int]:
        """What is declared as best and worst, in ns."""
        samples = self.samples or [0]
        worst = max(samples) if self.worst is None else self.worst
        least = min(samples) if self.samples else worst
        return least if self.best is None else self.best, worst

    def quantiles(self) -> list[int]:
        """The times at evenly spaced probabilities from 0 to 1, in ns, ascending."""
        best, worst = self.bounds
        if self.samples is not None:
            return _thinned(sorted(self.samples))
        if self.mean is not None and self.deviation is not None:
            return _cut_normal(best, worst, self.mean, self.deviation)
        return [worst] if best == worst else [best, worst]


def _cut_normal(best: int, worst: int, mean: int, deviation: int) -> list[int]:
    """Quantiles of a normal distribution that is cut off at best and worst."""
    normal = NormalDist(mean, deviation)
    low, high = normal.cdf(best), normal.cdf(worst)
    inner = [
        round(normal.inv_cdf(low + (high - low) * step / (QUANTILES - 1)))
        for step in range(1, QUANTILES - 1)
    ]
    return [best, *(min(worst, max(best, time)) for time in inner), worst]


def _thinned(ascending: list[int]) -> list[int]:
    if len(ascending) <= QUANTILES:
        return ascending
    last = len(ascending) - 1
    return [ascending[round(last * step / (QUANTILES - 1))] for step in range(QUANTILES)]
