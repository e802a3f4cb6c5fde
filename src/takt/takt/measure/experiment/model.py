# SPDX-License-Identifier: Apache-2.0
"""The experiment file: a declarative matrix of measurements.

A key that may be a list is an axis; a measurement stands for all combinations of its axes.
Durations are ns and sizes bytes here; in the file they carry their units (see ``units``).
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import CoreSchema

from takt.documents import units
from takt.documents.quantities import (
    Bandwidth,
    Duration,
    Period,
    Rate,
    Share,
    Size,
    Strict,
    text_schema,
)
from takt.measure.conditions import load, tuned
from takt.processes import namespace

UNPINNED = "any"
_CPU = re.compile(r"any|[0-9]{1,4}(,[0-9]{1,4})?")
_HOST = "[A-Za-z0-9][A-Za-z0-9_.-]{0,31}"
_SCHEDULING = re.compile(r"other|(fifo|rr) ([1-9][0-9]?)")

Value = TypeVar("Value")


def _cpu(value: object) -> str:
    text = str(value).replace(" ", "") if isinstance(value, (str, int)) else ""
    if isinstance(value, bool) or not _CPU.fullmatch(text):
        raise ValueError(
            f'{value!r} is not any (not pinned), a CPU\'s number, or "0,1" (one for each role)'
        )
    return text


def _scheduling(value: object) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    if re.fullmatch(r"other \S+", text):
        raise ValueError(f"{value!r}: other has no priority; write other, or fifo 80")
    match = _SCHEDULING.fullmatch(text)
    if not match or (match[2] and int(match[2]) > 98):
        raise ValueError(f"{value!r} is not other, fifo N or rr N with a priority N from 1 to 98")
    return text


def _load(value: object) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    if not load.PATTERN.fullmatch(text):
        raise ValueError(
            f"{value!r} is not none, cpu, fft, stress, or stress N with N from 1 to 99"
        )
    return load.STRESS if text == f"{load.STRESS} {load.WORKERS}" else text


def _traffic(value: object) -> int:
    return 0 if value == "none" else units.parse_bandwidth(value)


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
        raise ValueError(
            f'{value!r}: a namespace is behind a link of this machine: "here,namespace"'
        )
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
Kind = Literal["wakeup", "timer-oneshot", "timer-cyclic", "pingpong", "pubsub", "ethercat"]
Wait = Literal["idle", "busy"]
Late = Literal["at_once", "next_cycle"]
Load = Annotated[str, BeforeValidator(_load), text_schema("stress", load.PATTERN.pattern)]
Tuned = Annotated[str, BeforeValidator(tuned.parse), WithJsonSchema({"enum": list(tuned.CHOICES)})]
Hosts = Annotated[
    str, BeforeValidator(_hosts), text_schema("controller,component", f"here|{_HOST},{_HOST}")
]
Queue = Literal["shared", "own"]
Interface = Annotated[str, Field(pattern=r"^[^\s/]{1,15}$")]
SegmentFault = Literal["none", "slave_lost", "wrong_counter", "silent"]
Slaves = Annotated[int, Field(ge=1, le=128, strict=True)]
Traffic = Annotated[
    int,  # bit/s; 0: none
    BeforeValidator(_traffic),
    PlainSerializer(lambda rate: units.format_bandwidth(rate) if rate else "none"),
    text_schema("40Mbps", f"none|{units.pattern(units.BANDWIDTHS)}"),
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


MESSAGES = ("pingpong", "pubsub")
OF_THE_LINK = ("link", "queue", "traffic", "delay", "jitter", "loss")
OF_MESSAGES = (
    "payload content reliability durability history depth link queue traffic delay jitter loss"
)
# Which kinds have a key; a key that is not here belongs to all of them.
_KINDS_WITH: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(OF_MESSAGES.split(), MESSAGES),
    "executor": ("timer-oneshot", "timer-cyclic", *MESSAGES),
    "subscribers": ("pubsub",),
    "threads": ("wakeup",),
    "distance": ("wakeup",),
    "talkers": ("pubsub",),
    "talker_rate": ("pubsub",),
    "timeout": ("timer-oneshot",),
    "wait": ("timer-oneshot",),
    "late": ("pingpong",),
    "period": ("wakeup", "timer-cyclic", "ethercat", *MESSAGES),
    "rate": ("wakeup", "timer-cyclic", "ethercat", *MESSAGES),
    "interface": ("ethercat",),
    "slaves": ("ethercat",),
    "fault": ("ethercat",),
}


class Measurement(Strict):
    """One block of ``measurements:``; None is the default of the kind or of the experiment."""

    kind: Kind = Field(description="what one sample is")
    label: Name | None = Field(
        None,
        description="in the names of its points; with a label each, blocks may ask for the same "
        "point, such as for a short time and for hours",
    )
    stack: Axis[Stack] = Field(
        description='communication stacks: raw, rcl, …; "rcl,cyclonedds": ping or publisher on '
        "rcl, pong or subscribers on cyclonedds; both are DDS"
    )
    transport: Axis[Name] | None = Field(
        None, description="ways from one role to the other; default: the first one that it has"
    )
    executor: Axis[Name] | None = Field(
        None,
        description="stack rclcpp only: what runs the callbacks: single_threaded, multi_threaded, "
        "events, events_cbg, takt; default: the first one that it has",
    )
    payload: Axis[Size] | None = Field(None, description="of messages; default: 500B")
    content: Axis[Content] | None = Field(
        None,
        description="of messages: bytes behind a head, or a string (std_msgs/String), whose text "
        "holds both and is as long as the payload; default: bytes",
    )
    timeout: Axis[Period] | None = Field(
        None, description="timer-oneshot only, instead of a rate; from 10us; default: 1ms"
    )
    wait: Axis[Wait] | None = Field(
        None, description="timer-oneshot only: how the loop waits; default: idle"
    )
    late: Axis[Late] | None = Field(
        None,
        description="pingpong only: when the next message goes after a reply that came later than "
        "its start time; next_cycle: those start times are left out; default: at_once",
    )
    period: Axis[Period] | None = Field(None, description="this or rate; default: rate 1kHz")
    rate: Axis[Rate] | None = Field(None, description="this or period")
    scheduling: Axis[Scheduling] = Field(
        ["other"], description="other, or fifo N and rr N with a priority from 1 to 98"
    )
    cpu: Axis[Cpu] = Field(
        [UNPINNED],
        description='any, a number, or "0,1": ping, publisher or master on 0, pong, subscribers '
        "or the simulated segment on 1",
    )
    threads: Axis[Processes] | None = Field(
        None,
        description="wakeup of the stack cyclictest only: how many at once, each with samples of "
        "its own; default: 1",
    )
    distance: Duration | None = Field(
        None,
        description="from the period of one of these threads to that of the next, in whole us; "
        "default: 0s",
    )
    subscribers: Axis[Processes] | None = Field(
        None, description="pubsub only: how many; default: 1"
    )
    interface: Axis[Interface] | None = Field(
        None,
        description="ethercat only: the network interface of real slaves; default: a simulated "
        "segment in a network namespace",
    )
    slaves: Axis[Slaves] | None = Field(
        None,
        description="ethercat only: how many there have to be; default: 16 simulated ones, any "
        "number of real ones",
    )
    fault: Axis[SegmentFault] | None = Field(
        None,
        description="ethercat only: what goes wrong on the simulated segment from the middle "
        "cycle on; default: none",
    )
    reliability: Axis[Reliability] | None = Field(None, description="of the QoS; default: reliable")
    durability: Axis[Durability] | None = Field(
        None,
        description="of the QoS: what who comes late gets; transient_local: what its writer still "
        "keeps; default: volatile",
    )
    history: Axis[History] | None = Field(
        None, description="of the QoS: keep_last (depth) or keep_all; default: keep_last"
    )
    depth: Axis[Positive] | None = Field(None, description="of history keep_last; default: 10")
    talkers: Axis[Pairs] | None = Field(
        None, description="pubsub only: pairs of other nodes on topics of their own; default: 0"
    )
    talker_rate: Rate | None = Field(None, description="of each of these pairs; default: 100Hz")
    load: Axis[Load] = Field(
        ["none"],
        description="meanwhile, of normal processes; cpu: one on each CPU that computes all along; "
        "fft: the same with Fourier transforms, by stress-ng; stress: its workers for CPU, memory, "
        "sync and files, eight each (stress N: N each)",
    )
    tuned: Axis[Tuned] = Field(
        ["none"],
        description="settings of the machine that `takt tune` changes for the cell and puts back "
        "after it: all, or one of them; takes root",
    )
    host: Axis[Hosts] = Field(
        ["here"],
        description='pingpong and pubsub over udp; "here,namespace": ping or publisher on this '
        "machine, pong or subscribers in a network namespace behind a link; other names are "
        "workers of a Dask scheduler with a resource of this name, on any machine",
    )
    link: Axis[Bandwidth] | None = Field(
        None, description="of the link between two hosts, each way; default: 100Mbps"
    )
    queue: Axis[Queue] | None = Field(
        None,
        description="of the messages on this link: shared with the traffic, or own, which leaves "
        "first; default: shared",
    )
    traffic: Axis[Traffic] | None = Field(
        None, description="on this link meanwhile, each way, by iperf3; default: none"
    )
    delay: Axis[Duration] | None = Field(
        None, description="of each frame on this link, each way, as of a longer way; default: 0s"
    )
    jitter: Axis[Duration] | None = Field(
        None,
        description="of this delay, evenly drawn up and down for each frame, which may overtake "
        "others then; default: 0s",
    )
    loss: Axis[Share] | None = Field(
        None, description="of the frames on this link, each way, by chance; default: 0%"
    )
    start_delay: Duration | None = Field(
        None, description="between being ready and the first sample; default: 0s"
    )
    samples: Count | None = Field(None, description="how many, instead of a duration")
    duration: Duration | None = Field(
        None, description="of one repetition; default: the experiment's"
    )
    repetitions: Positive | None = Field(
        None, description="of each point; default: the experiment's"
    )
    deadline: Duration | None = Field(
        None, description="on the response; default: the experiment's"
    )
    lost_after: Duration | None = Field(
        None, description="a reply later than this is lost; default: the experiment's"
    )

    @model_validator(mode="after")
    def _one_pace(self) -> Measurement:
        if self.period and self.rate:
            raise ValueError("period and rate say the same thing: give one of them")
        return self

    @model_validator(mode="after")
    def _one_length(self) -> Measurement:
        if self.samples and self.duration:
            raise ValueError("samples and duration say the same thing: give one of them")
        return self

    @model_validator(mode="after")
    def _fits_the_kind(self) -> Measurement:
        for key, kinds in _KINDS_WITH.items():
            if getattr(self, key) is not None and self.kind not in kinds:
                instead = "; it starts anew when it has fired: give timeout" * (
                    self.kind == "timer-oneshot" and key in {"period", "rate"}
                )
                raise ValueError(
                    f"a {self.kind} has no {key} (that is for {', '.join(kinds)}){instead}"
                )
        if self.host == ["here"]:
            for key in OF_THE_LINK:
                if getattr(self, key) is not None:
                    raise ValueError(f'{key} needs a second host: give host "here,namespace"')
        if self.depth and "keep_all" in (self.history or []):
            raise ValueError(
                "history keep_all has no depth: remove depth, or give keep_last a block of its own"
            )
        if self.distance and not any(one > 1 for one in self.threads or []):
            raise ValueError("distance is from one thread to the next: how many threads?")
        if self.distance and self.distance % 1000:
            raise ValueError("distance: cyclictest counts whole microseconds")
        if self.talker_rate and not any(self.talkers or []):
            raise ValueError("talker_rate needs talkers: how many pairs?")
        return self

    @property
    def periods_ns(self) -> list[int]:
        """The axis of the pace: periods, rates, or the timeouts of a one-shot timer."""
        return self.timeout or self.period or self.rate or [1_000_000]


class Experiment(Strict):
    """A whole experiment file."""

    name: Name = Field(description="names the results folder")
    description: str = Field("", description="for people; shown in the report")
    seed: int | None = Field(None, ge=0, strict=True, description="of the order; default: drawn")
    repetitions: Positive = Field(3, description="of each point, in random order")
    duration: Duration = Field(5_000_000_000, description="of one repetition")
    deadline: Duration = Field(10_000_000, description="on the response; counted, not enforced")
    lost_after: Duration = Field(500_000_000, description="a reply later than this is lost")
    skip_missing: bool = Field(
        False, description="leave out stacks that are not installed, instead of refusing to run"
    )
    measurements: Annotated[list[Measurement], Field(min_length=1)] = Field(
        description="blocks, each all combinations of its axes"
    )


def normalised(experiment: Experiment) -> dict[str, Any]:
    """The experiment as ``run.json`` keeps it: with units, without what was not given."""
    return experiment.model_dump(mode="json", exclude_none=True)
