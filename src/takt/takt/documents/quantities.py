# SPDX-License-Identifier: Apache-2.0
"""The quantities of the files that people write, and the base of their models.

Durations and periods are ns, sizes bytes; in the files they carry their units (see ``units``).
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    WithJsonSchema,
)
from takt_core import Quantity

from takt.documents import units


def _period(value: object) -> int:
    if (period := units.parse_duration(value)) == 0:
        raise ValueError("period must be greater than 0")
    return period


def _period_or_rate(value: object) -> int:
    return units.parse_rate(value) if units.is_rate(value) else _period(value)


def _duration_or_rate(value: object) -> int:
    return units.parse_rate(value) if units.is_rate(value) else units.parse_duration(value)


def _above_zero(value: int) -> int:
    if value == 0:
        raise ValueError("must be greater than 0")
    return value


def range_such_as(example: str) -> BeforeValidator:
    """The shortest and the longest of something; what is not two values is told how to be."""

    def checked(value: object) -> object:
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise ValueError(f"give the shortest and the longest, such as {example}")
        return value

    return BeforeValidator(checked)


def text_schema(example: str, pattern: str | None = None) -> WithJsonSchema:
    """The JSON Schema of a value that is written as text."""
    schema: dict[str, Any] = {"type": "string", "examples": [example]}
    return WithJsonSchema(schema | ({"pattern": f"^({pattern})$"} if pattern else {}))


Duration = Annotated[
    int,
    BeforeValidator(units.parse_duration),
    PlainSerializer(units.format_duration),
    text_schema("10ms", units.pattern(Quantity.DURATION)),
]
PositiveDuration = Annotated[Duration, AfterValidator(_above_zero)]
Period = Annotated[
    int,
    BeforeValidator(_period),
    PlainSerializer(units.format_duration),
    text_schema("1ms", units.pattern(Quantity.DURATION)),
]
PeriodOrRate = Annotated[
    int,  # ns; a rate is rounded to the nearest whole period: 30Hz is 33333333ns
    BeforeValidator(_period_or_rate),
    PlainSerializer(units.format_duration),
    text_schema("10ms", f"{units.pattern(Quantity.DURATION)}|{units.pattern(Quantity.RATE)}"),
]
DurationOrRate = Annotated[
    int,  # ns, as PeriodOrRate, but a duration may be 0
    BeforeValidator(_duration_or_rate),
    PlainSerializer(units.format_duration),
    text_schema("10ms", f"{units.pattern(Quantity.DURATION)}|{units.pattern(Quantity.RATE)}"),
]
Rate = Annotated[
    int,  # its period in ns
    BeforeValidator(units.parse_rate),
    PlainSerializer(units.format_period),
    text_schema("1kHz", units.pattern(Quantity.RATE)),
]
Size = Annotated[
    int,
    BeforeValidator(units.parse_size),
    PlainSerializer(units.format_size),
    text_schema("32KB", units.pattern(Quantity.SIZE)),
]
Bandwidth = Annotated[
    int,  # bit/s
    BeforeValidator(units.parse_bandwidth),
    PlainSerializer(units.format_bandwidth),
    text_schema("40Mbps", units.pattern(Quantity.BANDWIDTH)),
]


Share = Annotated[
    int,  # parts per million
    BeforeValidator(units.parse_share),
    PlainSerializer(units.format_share),
    text_schema("0.1%", units.pattern(Quantity.SHARE)),
]


class Strict(BaseModel):
    """Base of the file's models: an unknown key is an error, and so is a number without end."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
