# SPDX-License-Identifier: Apache-2.0
"""What the keys of an experiment file may hold, and in which words."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Optional, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic_core import CoreSchema
from takt_core import Quantity

from takt.documents import units
from takt.documents.quantities import text_schema
from takt.measure.conditions import load, tuned
from takt.network import domain, namespace
from takt.network.dds_threads import HIGHEST, DdsThreads

UNPINNED = "any"
INHERITED = "inherited"
_CPU = re.compile(r"any|[0-9]{1,4}(,[0-9]{1,4})?")
_HOST = "[A-Za-z0-9][A-Za-z0-9_.-]{0,31}"
_LOAD = load.PATTERN.pattern
_SCHEDULING = re.compile(r"other|(fifo|rr) ([1-9][0-9]?)")

Value = TypeVar("Value")


def _cpu(value: object) -> str:
    text = str(value).replace(" ", "") if isinstance(value, (str, int)) else ""
    if isinstance(value, bool) or not _CPU.fullmatch(text):
        raise ValueError(
            f'{value!r} is not any (not pinned), a CPU number, or "0,1" (one for each role)'
        )
    return text


def _scheduling(value: object) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    if re.fullmatch(r"other \S+", text):
        raise ValueError(f"{value!r}: policy other has no priority; write other, or fifo 80")
    match = _SCHEDULING.fullmatch(text)
    if not match or (match[2] and int(match[2]) > 98):
        raise ValueError(f"{value!r} is not other, fifo N or rr N with a priority N from 1 to 98")
    return text


def _dds_priority(value: object) -> str:
    text = str(value).replace(" ", "") if isinstance(value, (str, int)) else ""
    if text == INHERITED:
        return text
    asked = DdsThreads.of("fifo", text)
    if isinstance(value, bool) or not asked or not asked.least <= asked.most <= HIGHEST:
        raise ValueError(
            f"{value!r} is not inherited, nor a priority from 1 to 98, nor two such as 70-80"
        )
    return str(asked.least) if asked.least == asked.most else text


def _load(value: object) -> str:
    each = [" ".join(one.split()) for one in value.split(",")] if isinstance(value, str) else []
    if not 1 <= len(each) <= 2 or not all(map(load.PATTERN.fullmatch, each)):
        raise ValueError(
            f"{value!r} is not none, idle, cpu, fft, stress, stress N with N from 1 to 99 (each "
            "also limited, such as cpu limited), nor two of these such as "
            '"stress,stress 2" (one for each host)'
        )
    each = [re.sub(rf"^{load.STRESS} {load.WORKERS}\b", load.STRESS, one) for one in each]
    return ",".join(dict.fromkeys(each))


def _traffic(value: object) -> int:
    return 0 if value == "none" else units.parse_bandwidth(value)


def _within(value: object) -> int | None:
    if value in ("none", None):
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= domain.LAST:
        raise ValueError(f"{value!r} is not none, nor a ROS domain from 0 to {domain.LAST}")
    return value


def _stack(value: str) -> str:
    first, _, second = value.partition(",")
    return first if first == second else value


def _hosts(value: object) -> str:
    text = value.replace(" ", "") if isinstance(value, str) else ""
    first, _, second = text.partition(",")
    if text == namespace.HERE:
        return text
    if not re.fullmatch(f"{_HOST},{_HOST}", text) or first == second:
        raise ValueError(f'{value!r} is not here, nor two hosts such as "here,namespace"')
    if namespace.THERE in (first, second) and namespace.HERE not in (first, second):
        raise ValueError(f'{value!r}: a namespace must be the second host: "here,namespace"')
    return text


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


Cpu = Annotated[
    str,
    BeforeValidator(_cpu),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0},
                {"type": "string", "pattern": "^(any|[0-9]+(, *[0-9]+)?)$"},
            ]
        }
    ),
]
Scheduling = Annotated[
    str, BeforeValidator(_scheduling), text_schema("fifo 80", "other|(fifo|rr) [1-9][0-9]?")
]
DdsPriority = Annotated[
    str,
    BeforeValidator(_dds_priority),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": HIGHEST},
                {"type": "string", "pattern": f"^({INHERITED}|[1-9][0-9]? *(- *[1-9][0-9]?)?)$"},
            ]
        }
    ),
]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
Stack = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}(,[A-Za-z0-9][A-Za-z0-9_.-]{0,63})?$"),
    AfterValidator(_stack),
]
Reliability = Literal["reliable", "best_effort"]
Content = Literal["bytes", "string"]
Durability = Literal["volatile", "transient_local"]
History = Literal["keep_last", "keep_all"]
Kind = Literal[
    "wakeup", "timer-oneshot", "timer-cyclic", "pingpong", "pubsub", "ethercat", "supply"
]
Wait = Literal["idle", "busy"]
Late = Literal["at_once", "next_cycle"]
Load = Annotated[str, BeforeValidator(_load), text_schema("stress", f"({_LOAD})(, ?({_LOAD}))?")]
Tuned = Annotated[
    str, BeforeValidator(tuned.parse), text_schema("ksoftirqd+irq-threads", tuned.PATTERN)
]
Within = Annotated[
    Optional[int],  # noqa: UP045 - pydantic reads it on Python 3.10
    BeforeValidator(_within),
    PlainSerializer(lambda number: "none" if number is None else number),
    WithJsonSchema(
        {"anyOf": [{"const": "none"}, {"type": "integer", "minimum": 0, "maximum": domain.LAST}]}
    ),
]
Cores = Literal["shared", "alone"]
Hosts = Annotated[
    str, BeforeValidator(_hosts), text_schema("controller,component", f"here|{_HOST},{_HOST}")
]
Allocator = Literal["heap", "tlsf"]
Queue = Literal["shared", "own", "limited"]
Interface = Annotated[str, Field(pattern=r"^[^\s/]{1,15}$")]
SegmentFault = Literal["none", "slave_lost", "wrong_counter", "silent"]
Slaves = Annotated[int, Field(ge=1, le=128, strict=True)]
Traffic = Annotated[
    int,  # bit/s; 0: none
    BeforeValidator(_traffic),
    PlainSerializer(lambda rate: units.format_bandwidth(rate) if rate else "none"),
    text_schema("40Mbps", f"none|{units.pattern(Quantity.BANDWIDTH)}"),
]
Count = Annotated[int, Field(ge=2, le=1_000_000_000, strict=True)]
Pairs = Annotated[int, Field(ge=0, le=100, strict=True)]
Processes = Annotated[int, Field(ge=1, le=100, strict=True)]
Positive = Annotated[int, Field(ge=1, le=10_000, strict=True)]


class _OneOrMany:
    """Says in the JSON Schema that an axis of one value may be written without a list."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        many = handler(core)
        return {"anyOf": [many["items"], many]}


# One value or a list of values that are all measured.
Axis = Annotated[list[Value], Field(min_length=1), BeforeValidator(_as_list), _OneOrMany()]
