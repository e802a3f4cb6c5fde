# SPDX-License-Identifier: Apache-2.0
"""The parts of a callback's jobs that wait where they say: it computes, waits, computes again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from takt.documents.quantities import Duration, Strict
from takt.documents.units import format_duration
from takt.schedule.application.locks import Length, length_of
from takt.schedule.application.topics import TopicName


class Segment(Strict):
    """A part of each job: it computes, or waits; `1ms` alone is short for `{worst: 1ms}`."""

    best: Duration | None = Field(None, description="shortest time of computing; default: worst")
    worst: Duration | None = Field(None, description="longest time of computing")
    wait: Annotated[Length, BeforeValidator(length_of)] | None = Field(
        None,
        description="in place of them: time that it waits while others run, `2ms` or `{best: 1ms, "
        "worst: 2ms}`",
    )
    device: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)] | None = (
        Field(
            None,
            description="beside wait: device, such as a GPU or a bus, that it occupies for this "
            "time; before, it waits for all requests that came before its own",
        )
    )
    call: TopicName | None = Field(
        None,
        description="in place of them: service that it calls, and for whose response it waits",
    )

    @model_validator(mode="after")
    def _either(self) -> Segment:
        if self.device is not None and self.wait is None:
            raise ValueError(
                f"it occupies {self.device} for how long? Such as {{wait: 2ms, device: "
                f"{self.device}}}"
            )
        given = [self.worst, self.wait, self.call].count(None) == 2
        if not given or (self.worst is None and self.best is not None):
            raise ValueError(
                "a segment either computes, such as 1ms or {best: 0.5ms, worst: 1ms}, or waits, "
                "such as {wait: 2ms} or {call: /plan}"
            )
        if self.worst == 0:
            raise ValueError("must be greater than 0")
        best, worst = self.bounds
        if best > worst:
            raise ValueError(
                f"best {format_duration(best)} is above worst {format_duration(worst)}"
            )
        return self

    @property
    def bounds(self) -> tuple[int, int]:
        """Its shortest and its longest time, in ns; 0 for a call."""
        if self.wait is not None:
            return self.wait.bounds
        worst = self.worst or 0
        return worst if self.best is None else self.best, worst


def _segment(value: Any) -> Any:
    return value if isinstance(value, dict | Segment) else {"worst": value}


def check_turns(segments: Sequence[Segment]) -> None:
    """Raises ValueError unless computing and waiting take turns."""
    computes = [one.worst is not None for one in segments]
    if len(computes) < 3 or computes != [place % 2 == 0 for place in range(len(computes))]:
        raise ValueError(
            "segments compute and wait in turn, and begin and end by computing: such as "
            "[1ms, {wait: 2ms}, 1ms]"
        )


Segments = list[Annotated[Segment, BeforeValidator(_segment)]]


def flat_segments(segments: Sequence[Segment], service: Callable[[str], str]) -> dict[str, Any]:
    """The segments of a callback as the core parses them, and what follows from them.

    ``service``: its name for the core.
    """
    bounds = [one.bounds for one in segments]
    best, worst = (sum(times) for times in zip(*bounds[::2], strict=True))
    waits = [longest for _, longest in bounds[1::2]]
    return {
        "execution": {
            "best": best,
            "worst": worst,
            "quantiles": [worst] if best == worst else [best, worst],
        },
        "suspension": sum(waits),
        "suspensions": len(waits),
        "segments": [
            {"call": service(one.call)}
            if one.call
            else {"shortest": shortest, "longest": longest}
            | ({"device": one.device} if one.device else {})
            for one, (shortest, longest) in zip(segments, bounds, strict=True)
        ],
    }
