# SPDX-License-Identifier: Apache-2.0
"""The parameters of synthetic applications: the file, its ranges, and what may not be asked for.

Names, units and restrictions are those of Krukiewicz-Gacek 2021 (Tables 5.1 and 5.2, Listings 5.3
and 5.4, section 5.2); what goes past them has a default that changes nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
)

from takt import yaml_file
from takt.errors import TaktError
from takt.experiment import units
from takt.experiment.model import Strict
from takt.yaml_file import Form, Source

MS = 1_000_000
_SIZE = re.compile(r"([0-9]+) *([kKmM]?)[bB]")
_TIMES = {"type": "array", "items": {"type": ["number", "string"]}, "minItems": 1}


def _size(value: object) -> int:
    """``512kB``, ``2Mb``, ``16b``: in the thesis a small b means bytes, too."""
    if isinstance(value, str) and (match := _SIZE.fullmatch(value)):
        return int(match[1]) * {"": 1, "k": 10**3, "m": 10**6}[match[2].lower()]
    return units.parse_size(value)


def _period(value: object) -> int:
    """A number of milliseconds, or a text with its unit; in ns."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        nanoseconds = round(value * MS)
    else:
        nanoseconds = units.parse_duration(value)
    if nanoseconds < 1:
        raise ValueError("a period must be above 0")
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


def _multipliers(value: object) -> object:
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


Nodes = Annotated[int, Field(strict=True, le=1000)]
Periods = Annotated[
    Any,  # list[int] in ns, or the name of a distribution
    PlainValidator(_periods),
    WithJsonSchema({"anyOf": [_TIMES, {"enum": ["log-uniform", "automotive"]}]}),
]
PeriodsRange = Annotated[Any, PlainValidator(_pair), WithJsonSchema(_TIMES | {"maxItems": 2})]
MessageSize = Annotated[int, PlainValidator(_size), WithJsonSchema({"type": "string"})]
Pubsub = Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=2, max_length=2)]
Deadlines = Literal["period", "wcet"]
Multipliers = Annotated[
    list[float],
    Field(min_length=1, max_length=2),
    BeforeValidator(_multipliers),
    AfterValidator(_ascending),
]
Shares = Annotated[
    list[float],
    Field(min_length=1, max_length=2),
    BeforeValidator(_multipliers),
    AfterValidator(_shares),
]
Priorities = Annotated[Literal["rate-monotonic", "random"], BeforeValidator(_priorities)]
MaxUtilization = Annotated[float, Field(gt=0)]
Generator = Literal["uunifast", "uunifast-discard", "fixed-sum"]
Policy = Literal["fp", "rm", "dm", "edf", "np-fp", "np-edf", "p-rm", "cw-edf"]


class Parameters(Strict):
    """Of one application."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    nodes: Nodes = Field(description="each with one timer")
    utilization: float = Field(description="of all of them together, above 0 and at most 1")
    periods: Periods = Field(
        description="periods in ms that are spread equally; or log-uniform, or automotive"
    )
    pubsub: Pubsub = Field(
        [0.0, 0.0], description="shares of the nodes that publish and that subscribe"
    )
    deadlines: Deadlines = "period"
    deadlines_wcet: Multipliers = Field(
        [1.0, 2.0], description="with deadlines wcet: deadline / wcet, or the range of it"
    )
    priorities: Priorities = "rate-monotonic"
    message_size: MessageSize | None = Field(
        None, validation_alias=AliasChoices("message_size", "message-size")
    )
    periods_range: PeriodsRange = Field(
        [10 * MS, 1000 * MS], description="with periods log-uniform: the least and greatest, in ms"
    )
    utilization_max: MaxUtilization = Field(1.0, description="of a single task")
    utilization_generator: Generator | None = Field(
        None, description="default: fixed-sum where a bound of a task is felt, else uunifast"
    )
    best_case: Shares = Field(
        [1.0], description="of the execution times: best case / wcet, or the range of it"
    )
    policy: Policy = Field("fp", description="of the applications")

    @property
    def publishers(self) -> int:
        """How many nodes publish."""
        return _share_of(self.nodes, self.pubsub[0])

    @property
    def subscribers(self) -> int:
        """How many nodes subscribe."""
        return _share_of(self.nodes, self.pubsub[1])

    @property
    def most(self) -> float:
        """The most that one task may use, so that its wcet and deadline are within its period."""
        multiplier = self.deadlines_wcet[0] if self.deadlines == "wcet" else 1.0
        return min(self.utilization_max, 1.0 / multiplier)

    def document(self) -> dict[str, Any]:
        """As JSON would have them, for a manifest; periods in ns, sizes in bytes."""
        return self.model_dump(mode="json", exclude_none=True)


def _share_of(nodes: int, share: float) -> int:
    return max(1, round(nodes * share)) if share > 0 else 0


def violations(wanted: Parameters) -> Iterator[tuple[str, str, str]]:
    """Broken restrictions (numbers of the thesis): the key, what is wrong, what to do."""
    nodes, total = wanted.nodes, wanted.utilization
    if nodes <= 1:
        yield "nodes", f"restriction 1: {nodes} is not more than one node", "ask for 2 or more"
        return
    if not 0.01 <= total <= 1:
        what = f"restriction 2: a utilization of {total:g} is not from 0.01 to 1"
        yield "utilization", what, "one core has a utilization of at most 1"
    for index, (name, number) in enumerate([("publishers", 3), ("subscribers", 4)]):
        if wanted.pubsub[index] > 1:
            asked = round(nodes * wanted.pubsub[index])
            what = f"restriction {number}: {asked} {name} are more than {nodes} nodes"
            yield "pubsub", what, "give a share of the nodes: 0 to 1"
    publishers, subscribers = wanted.publishers, wanted.subscribers
    if subscribers and not publishers:
        yield "pubsub", "there are subscribers, but no publishers", "give publishers a share"
    elif publishers == 1 and subscribers == nodes:
        what = "restriction 5: the only publisher would subscribe to its own topic"
        yield "pubsub", what, "ask for more publishers, or fewer subscribers"
    if publishers and wanted.message_size is None:
        yield "message_size", "publishers need a message size", 'add "message_size": "512kB"'
    room = nodes * wanted.most
    if total > room:
        if wanted.deadlines == "wcet" and wanted.most < wanted.utilization_max:
            least = wanted.deadlines_wcet[0]
            what = f"restriction 6: with deadlines of {least:g} × wcet, some are above the period"
            yield "deadlines_wcet", what, f"{nodes} nodes can have a utilization of {room:g}"
        else:
            what = f"{nodes} nodes with at most {wanted.utilization_max:g} each have no {total:g}"
            yield "utilization_max", what, f"raise it to {total / nodes:g} at least"
    elif wanted.utilization_generator == "uunifast" and total > wanted.most:
        what = f"uunifast does not keep a task's utilization below {wanted.most:g}"
        yield "utilization_generator", what, "use fixed-sum or uunifast-discard, or leave it out"
    if wanted.utilization_max > 1:
        what = "restriction 7: a task with a utilization above 1 computes for more than its period"
        yield "utilization_max", what, "give at most 1"


Value = TypeVar("Value")
Options = Annotated[list[Value], Field(min_length=1)]


class Ranges(Strict):
    """Values to choose from, a list a key; those of some keys in all combinations."""

    force_all_combinations: list[str]
    nodes: Options[Nodes]
    utilization: Options[float]
    periods: Options[Periods]
    pubsub: Options[Pubsub] | None = None
    deadlines: Options[Deadlines] | None = None
    deadlines_wcet: Options[Multipliers] | None = None
    priorities: Options[Priorities] | None = None
    message_size: Options[MessageSize] | None = Field(
        None, validation_alias=AliasChoices("message_size", "message-size")
    )
    periods_range: Options[PeriodsRange] | None = None
    utilization_max: Options[MaxUtilization] | None = None
    utilization_generator: Options[Generator] | None = None
    best_case: Options[Shares] | None = None
    policy: Options[Policy] | None = None


class _ParametersFile(Strict):
    parameters: Parameters


class _RangesFile(Strict):
    parameters: Ranges


class Space:
    """What a file asks for: combinations, each with the values that are drawn anew every time."""

    def __init__(self, combinations: list[dict[str, Any]], drawn: dict[str, list[Any]]) -> None:
        self.combinations = combinations  # at least one
        self.drawn = drawn  # keys with several values that need not all be combined

    def parameters(self, combination: int, choice: dict[str, Any]) -> Parameters:
        """One point: a combination, and a value of each key that is drawn."""
        # The values are validated already: validating them again would read ns as ms.
        return Parameters.model_construct(**self.combinations[combination], **choice)


def load(path: Path) -> Space:
    """Reads a parameter or range file; raises TaktError for what cannot be asked for."""
    reference, example = "docs/how-to/generate-applications.md", "examples/parameters.json"
    if '"force_all_combinations"' not in _text(path):
        form = Form("a parameter set", _ParametersFile, "parameters", example, reference)
        document, source = yaml_file.load(path, form)
        return _restricted(Space([_values(document.parameters)], {}), source)
    ranges = Form("a parameter range", _RangesFile, "parameters", example, reference)
    found, source = yaml_file.load(path, ranges)
    options = _values(found.parameters)
    forced = options.pop("force_all_combinations")
    forced = [key.replace("-", "_") for key in forced]
    for index, key in enumerate(forced):
        if key not in options:
            raise TaktError(
                f"{key} is to be combined, but has no values",
                where=source.where(("parameters", "force_all_combinations", index)),
                remedy=f"give it a list of values, or name some of {', '.join(options)}",
            )
    fixed = {key: values[0] for key, values in options.items() if key not in forced}
    drawn = {
        key: values for key, values in options.items() if key not in forced and len(values) > 1
    }
    combinations = [
        {key: value for key, value in fixed.items() if key not in drawn}
        | dict(zip(forced, values, strict=True))
        for values in itertools.product(*(options[key] for key in forced))
    ]
    return _restricted(Space(combinations, drawn), source)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""  # said by the reader


def _values(model: Any) -> dict[str, Any]:
    return {name: value for name in type(model).model_fields
            if (value := getattr(model, name)) is not None}  # fmt: skip


def _restricted(space: Space, source: Source) -> Space:
    """Checks every point that may come up."""
    points = itertools.product(*space.drawn.values())
    for choice in [dict(zip(space.drawn, point, strict=True)) for point in points]:
        for combination in range(len(space.combinations)):
            parameters = space.parameters(combination, choice)
            for key, what, remedy in violations(parameters):
                places = [("parameters", key), ("parameters", key.replace("_", "-"))]
                lines = [source.where(place) for place in places]
                raise TaktError(what, where=max(lines, key=_line), remedy=remedy)
    return space


def _line(where: str) -> int:
    return int(where.rpartition(":")[2])
