# SPDX-License-Identifier: Apache-2.0
"""Links between the hosts of a robot: declared, or as a run measured them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError, ValidationInfo, model_validator

from takt.documents import reading
from takt.documents.quantities import Duration, Share, Strict, range_such_as
from takt.documents.units import format_duration
from takt.errors import TaktError
from takt.schedule.application.processes import Host

RUN = "run.json"
_NS = 1000
_MILLIONTHS = 10**6


class Link(Strict):
    """The network between two hosts, in both directions, with the middleware on both."""

    hosts: Annotated[list[Host], Field(min_length=2, max_length=2)] = Field(
        description="the two hosts, as the processes name them"
    )
    latency: (
        Annotated[list[Duration], Field(min_length=2, max_length=2), range_such_as("[200us, 2ms]")]
        | None
    ) = Field(
        None,
        description="shortest and longest time from the publication of a message until a process "
        "on the other host notices it: [200us, 2ms]; default: as measured",
    )
    run: str | None = Field(
        None,
        alias="from",
        description="instead of latency: RUN#CELL, the folder of a run of takt run and the id or "
        "key of one of its cells, a ping-pong or publications between the two hosts; default: "
        "declared",
    )
    loss: Share | None = Field(
        None,
        description="highest share of messages that never arrive; default: none, or as measured",
    )
    drift: Share | None = Field(
        None,
        description="maximum difference between the rates of both clocks: 50ppm; default: they are "
        "equal",
    )
    messages: Annotated[int, Field(ge=1, strict=True)] | None = Field(
        None, description="number of measured messages; set by from; default: it is declared"
    )

    @model_validator(mode="before")
    @classmethod
    def _from_run(cls, given: Any, info: ValidationInfo) -> Any:
        if not isinstance(given, dict) or not isinstance(given.get("from"), str):
            return given
        if "latency" in given:
            raise ValueError("it has both latency and from: keep one of them")
        file = (info.context or {}).get("file")
        near = Path(file).parent if file else Path()
        return _measured(near, given["from"]) | given

    @model_validator(mode="after")
    def _whole(self) -> Link:
        if self.latency is None:
            raise ValueError("give its latency, [shortest, longest], or the run that measured it")
        if self.latency[0] > self.latency[1]:
            raise ValueError("the first latency is above the second: give [shortest, longest]")
        if self.loss == _MILLIONTHS:
            raise ValueError("a link that loses all messages is none: remove it")
        return self


class _Percentiles(BaseModel):
    min_us: float
    max_us: float


class _Statistics(BaseModel):
    latency: _Percentiles


class _Conditions(BaseModel):
    clock_bound_us: float | None = None


class _Cell(BaseModel):
    """What counts of a cell of run.json; other keys are left out."""

    id: str
    key: str
    kind: str
    status: str
    count: int = 0
    lost: int = 0
    statistics: _Statistics | None = None
    conditions: _Conditions | None = None


class _Run(BaseModel):
    cells: list[_Cell]


def _measured(near: Path, reference: str) -> dict[str, Any]:
    """Latency, loss and number of messages of a cell: all its repetitions where it is a key."""
    folder, _, name = reference.partition("#")
    path = near / folder / RUN
    try:
        run = _Run.model_validate(json.loads(reading.read_text(path)))
    except OSError as error:
        raise ValueError(f"cannot read the run {path}: {error.strerror}") from None
    except TaktError as error:
        raise ValueError(f"cannot read the run {path}: {error.what}") from None
    except (ValueError, ValidationError):
        raise ValueError(f"{path} is not the document of a run") from None
    usable = [one for one in run.cells if one.kind in {"pingpong", "pubsub"}]
    cells = [one for one in usable if name in {one.id, one.key}]
    if not cells:
        keys = list(dict.fromkeys(one.key for one in usable))
        known = f"its cells are {', '.join(keys[:8])}" if keys else "it has none"
        raise ValueError(f"no ping-pong or publications {name or '#CELL'} in {path}: {known}")
    ways = [way for one in cells if (way := _way(one)) is not None]
    if len(ways) < len(cells):
        raise ValueError(f"cell {name} in {path} is not complete: measure it again")
    least, most = min(way[0] for way in ways), max(way[1] for way in ways)
    lost, count = sum(one.lost for one in cells), sum(one.count for one in cells)
    share = math.ceil(_MILLIONTHS * lost / max(1, lost + count))
    return {
        "latency": [
            format_duration(max(0, math.floor(least * _NS))),
            format_duration(max(0, math.ceil(most * _NS))),
        ],
        **({"loss": f"{share / 10**4:.4f}%"} if share else {}),
        "messages": max(1, count + lost),
    }


def _way(cell: _Cell) -> tuple[float, float] | None:
    """The shortest and the longest time of one way in µs; None: the cell is not complete.

    With the error of the clocks. A round trip, by one clock, is no shorter than each of its ways.
    """
    if cell.status != "complete" or cell.statistics is None:
        return None
    latency = cell.statistics.latency
    if cell.kind == "pingpong":
        return 0.0, latency.max_us
    wrong = (cell.conditions and cell.conditions.clock_bound_us) or 0.0
    return latency.min_us - wrong, latency.max_us + wrong
