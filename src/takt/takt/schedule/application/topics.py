# SPDX-License-Identifier: Apache-2.0
"""Topics of an application: their quality of service, and what callbacks read and write of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, WithJsonSchema
from takt_core import Quantity

from takt.documents.quantities import DurationOrRate, PositiveDuration, Size, Strict
from takt.documents.units import pattern

TopicName = Annotated[str, Field(pattern=r"^[A-Za-z_/~][A-Za-z0-9_/]*$", max_length=200)]


def _named(value: Any) -> Any:
    """A list of names as a mapping of names to nothing; a mapping may leave its values out."""
    if isinstance(value, str):
        return {value: None}
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        if len(set(value)) < len(value):
            raise ValueError("duplicate name")
        return dict.fromkeys(value)
    return value


class Read(Strict):
    """Requirements on the data that a callback reads."""

    max_age: PositiveDuration | None = Field(
        None, description="maximum age of the data; default: any"
    )


MOST_MESSAGES = 1000  # of one job on a topic


def _message_range(value: Any) -> tuple[int, int]:
    """A number is the least and the most."""
    ends = value if isinstance(value, list | tuple) else [value, value]
    numbers = len(ends) == 2 and all(type(end) is int for end in ends)
    if not numbers or not 1 <= ends[0] <= ends[1] <= MOST_MESSAGES:
        raise ValueError(
            f"must be a number from 1 to {MOST_MESSAGES}, or the least and the most, such as [1, 8]"
        )
    return ends[0], ends[1]


_COUNT = {"type": "integer", "minimum": 1, "maximum": MOST_MESSAGES}
MessageRange = Annotated[
    tuple[int, int],
    PlainValidator(_message_range),
    WithJsonSchema(
        {"anyOf": [_COUNT, {"type": "array", "items": _COUNT, "minItems": 2, "maxItems": 2}]}
    ),
]


class Write(Strict):
    """What one job of a callback publishes on a topic."""

    size: Size | None = Field(None, description="size of one message; default: that below topics")
    messages: MessageRange = Field(
        (1, 1),
        description="messages that one job publishes: a number, or the least and the most, [1, 8]; "
        "default: 1",
    )


def _reads(value: Any) -> Any:
    named = _named(value)
    return {n: r or {} for n, r in named.items()} if isinstance(named, dict) else named


def _writes(value: Any) -> Any:
    """A size alone is the size of a message; a mapping may leave its values out."""
    named = _named(value)
    if not isinstance(named, dict):
        return named
    return {
        name: {} if one is None else one if isinstance(one, dict | Write) else {"size": one}
        for name, one in named.items()
    }


def _allow_size(schema: dict[str, Any]) -> None:
    """A size alone, too, and nothing."""
    size = {"type": "string", "examples": ["32KB"], "pattern": f"^({pattern(Quantity.SIZE)})$"}
    names = schema["patternProperties"]
    schema["patternProperties"] = {
        name: {"anyOf": [write, size, {"type": "null"}]} for name, write in names.items()
    }
    _allow_list(schema)


def _allow_list(schema: dict[str, Any]) -> None:
    names = {"type": "array", "items": {"type": "string"}}
    mapping = {key: schema.pop(key) for key in list(schema) if key not in {"description", "title"}}
    mapping.pop("default", None)
    schema["anyOf"] = [names, *mapping.pop("anyOf", [mapping])]


Reads = Annotated[
    dict[TopicName, Read], BeforeValidator(_reads), Field(json_schema_extra=_allow_list)
]
Writes = Annotated[
    dict[TopicName, Write],
    BeforeValidator(_writes),
    Field(json_schema_extra=_allow_size),
]


def _distinct(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("duplicate name")
    return names


Services = Annotated[list[TopicName], AfterValidator(_distinct)]


class Topic(Strict):
    """A topic and its quality of service, or that of the requests of a service."""

    size: Size | None = Field(
        None, description="size of one message; alternatively given in writes"
    )
    depth: Annotated[int, Field(ge=1, le=10_000, strict=True)] | None = Field(
        None, description="queue depth in messages; default: 1, of a service 10"
    )
    reliability: Literal["reliable", "best_effort"] | None = Field(
        None, description="reliability of the QoS; default: reliable"
    )
    external_period: DurationOrRate | None = Field(
        None,
        description="period of publications from outside the application; 0s: unknown; default: no "
        "outside publisher",
    )
    external_burst: Annotated[int, Field(ge=1, le=MOST_MESSAGES, strict=True)] | None = Field(
        None,
        description="publications from outside that may come at once: at most t / external_period "
        "+ external_burst in any time t; default: 1",
    )
