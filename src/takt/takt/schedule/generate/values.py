# SPDX-License-Identifier: Apache-2.0
"""The values of a parameter file: how they are written, and what they are inside."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, WithJsonSchema

from takt.documents import units
from takt.schedule.application.executors import StockExecutor

Number = TypeVar("Number", int, float)
MS = 1_000_000
NO_MESSAGES = "-"  # in the thesis's table 5.3
_SIZE = re.compile(r"([0-9]+) *([kKmM]?)[bB]")
_TIMES = {"type": "array", "items": {"type": ["number", "string"]}, "minItems": 1}


def _size(value: object) -> int:
    """``512kB``, ``2Mb``, ``16b``: in the thesis a small b means bytes, too; ``-`` is none."""
    if value == NO_MESSAGES:
        return 0
    if isinstance(value, str) and (match := _SIZE.fullmatch(value)):
        return int(match[1]) * {"": 1, "k": 10**3, "m": 10**6}[match[2].lower()]
    return units.parse_size(value)


def _period(value: object) -> int:
    """A number of milliseconds, or a text with its unit; in ns."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not math.isfinite(value * MS):
            raise ValueError(f"{value!r} is not a period in ms")
        nanoseconds = round(value * MS)
    else:
        nanoseconds = units.parse_duration(value)
    if nanoseconds < 1:
        raise ValueError("period must be greater than 0")
    return nanoseconds


def _periods(value: object) -> list[int] | str:
    if value in ("log-uniform", "automotive"):
        return str(value)
    if not isinstance(value, list) or not value:
        raise ValueError(
            f"{value!r} is neither a list of periods in ms, such as [10, 20], nor log-uniform, nor"
            " automotive"
        )
    return [_period(one) for one in value]


def _pair(value: object) -> list[int]:
    periods = [_period(one) for one in value] if isinstance(value, list) else []
    if len(periods) != 2 or periods[0] > periods[1]:
        raise ValueError(f"{value!r} is not the least and the greatest period in ms: [10, 1000]")
    return periods


def _priorities(value: object) -> object:
    return "random" if value == "rand" else value


def _as_range(value: object) -> object:
    """One number is a range of itself."""
    return [value] if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _ascending(value: list[float]) -> list[float]:
    if min(value) < 1 or value != sorted(value):
        raise ValueError(f"{value} is not one multiplier of at least 1, nor a range of them")
    return value


def _shares(value: list[float]) -> list[float]:
    if not 0 < min(value) <= max(value) <= 1 or value != sorted(value):
        raise ValueError(f"{value} is not one share above 0 and at most 1, nor a range of them")
    return value


def _range(value: list[Number]) -> list[Number]:
    if min(value) < 0 or value != sorted(value):
        raise ValueError(f"{value} is not one number of at least 0, nor a range of them")
    return value


def _counts(value: list[int]) -> list[int]:
    if min(value) < 1 or value != sorted(value):
        raise ValueError(f"{value} is not one number of at least 1, nor a range of them")
    return value


Nodes = Annotated[int, Field(strict=True, le=1000)]
Periods = Annotated[
    Any,  # list[int] in ns, or the name of a distribution
    PlainValidator(_periods),
    WithJsonSchema({"anyOf": [_TIMES, {"enum": ["log-uniform", "automotive"]}]}),
]
PeriodsRange = Annotated[Any, PlainValidator(_pair), WithJsonSchema(_TIMES | {"maxItems": 2})]
MessageSize = Annotated[int, PlainValidator(_size), WithJsonSchema({"type": "string"})]
Time = Annotated[int, PlainValidator(units.parse_duration), WithJsonSchema({"type": "string"})]
Pubsub = Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=2, max_length=2)]
Deadlines = Literal["period", "wcet", "range"]
_OneOrTwo = Annotated[list[float], Field(min_length=1, max_length=2), BeforeValidator(_as_range)]
_OneOrTwoWhole = Annotated[list[int], Field(min_length=1, max_length=2), BeforeValidator(_as_range)]
Multipliers = Annotated[_OneOrTwo, AfterValidator(_ascending)]
Shares = Annotated[_OneOrTwo, AfterValidator(_shares)]
Range = Annotated[_OneOrTwo, AfterValidator(_range)]
Whole = Annotated[_OneOrTwoWhole, AfterValidator(_range)]
Counts = Annotated[_OneOrTwoWhole, AfterValidator(_counts)]
Share = Annotated[float, Field(ge=0, le=1)]
Priorities = Annotated[Literal["rate-monotonic", "random"], BeforeValidator(_priorities)]
MaxUtilization = Annotated[float, Field(gt=0)]
Generator = Literal["uunifast", "uunifast-discard", "fixed-sum"]
# Of a process: a policy of Takt, or an executor of rclcpp.
ProcessExecutor = Literal["fp", "np-fp", "edf", "np-edf", "p-rm", "cw-edf", StockExecutor]
Overrun = Literal["skip", "queue_one", "catch_up"]
Distribution = Literal["uniform", "normal", "samples"]
