# SPDX-License-Identifier: Apache-2.0
"""The parameters of synthetic applications, and what may not be asked for.

Names, units and restrictions are those of Krukiewicz-Gacek 2021 (Tables 5.1 and 5.2, Listings 5.3
and 5.4, section 5.2); what goes past them has a default that changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, get_args

from pydantic import AliasChoices, ConfigDict, Field

from takt.documents.quantities import Strict
from takt.schedule.application.executors import CorePolicy
from takt.schedule.generate import values
from takt.schedule.generate.values import MS

# What violations() asks for.
RESTRICTED = (
    *("nodes", "utilization", "utilization_max", "utilization_generator"),
    *("pubsub", "message_size", "deadlines", "deadlines_wcet"),
)
SUSPENDING = ("fp", "rm", "dm")  # policies under which a callback may wait


class Thesis(Strict):
    """What is drawn for all applications of one choice at once: timers, one a node."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    nodes: values.Nodes = Field(description="number of nodes, each with one timer")
    utilization: float = Field(description="total utilization, greater than 0 and at most 1")
    periods: values.Periods = Field(
        description="periods in ms, used equally often; or log-uniform, or automotive"
    )
    pubsub: values.Pubsub = Field(
        [0.0, 0.0], description="shares of publishing and of subscribing nodes"
    )
    deadlines: values.Deadlines = "period"
    deadlines_wcet: values.Multipliers = Field(
        [1.0, 2.0], description="with deadlines wcet: deadline / wcet, or its range"
    )
    priorities: values.Priorities = "rate-monotonic"
    message_size: values.MessageSize | None = Field(
        None, validation_alias=AliasChoices("message_size", "message-size")
    )
    periods_range: values.PeriodsRange = Field(
        [10 * MS, 1000 * MS],
        description="with periods log-uniform: the shortest and longest, in ms",
    )
    utilization_max: values.MaxUtilization = Field(
        1.0, description="maximum utilization of a single task"
    )
    utilization_generator: values.Generator | None = Field(
        None,
        description="default: fixed-sum if the utilization of a task is limited, else uunifast",
    )
    best_case: values.Shares = Field(
        [1.0], description="variation of execution times: best case / wcet, or its range"
    )
    policy: CorePolicy = Field("fp", description="of the applications")

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


class Parameters(Thesis):
    """Of one application. What is drawn for each by itself is off unless it is asked for.

    A range is of a property that every other callback (topic, input) gets, a share is of those that
    get it.
    """

    grain: values.Time = Field(1, description="all times but periods are multiples of it")
    deadlines_range: values.Range = Field(
        [0.5, 2.0], description="with deadlines range: deadline / period"
    )
    offsets: values.Range = Field([0.0], description="of the period")
    jitter: values.Range = Field([0.0], description="of the period")
    suspension: values.Range = Field([0.0], description="of the period; under fp, rm and dm")
    suspensions: values.Counts = Field([1], description="times that a job waits, if it does")
    unknown_offsets: values.Share = Field(0.0, description="of the timers, instead of an offset")
    budgets: values.Range = Field([0.0], description="of the wcet")
    overruns: list[values.Overrun] = Field([], description="to choose from")
    distributions: list[values.Distribution] = Field(
        ["uniform"], description="of execution times that vary, to choose from"
    )
    groups: values.Share = Field(0.0, description="of the callbacks that are in exclusive groups")
    together: values.Share = Field(
        0.0, description="of the callbacks that are in a node with others"
    )
    cores: values.Counts = Field(
        [1], description="how many; the utilization is that of each then, on average"
    )
    pinned: values.Share = Field(0.0, description="of the callbacks that name their core")
    writers: values.Counts = Field([1], description="of a topic")
    readings: values.Counts = Field([1], description="topics that a subscriber reads")
    messages: values.Share = Field(
        0.0, description="of the subscribers that a message releases instead of a timer"
    )
    burst: values.Counts = Field(
        [1],
        description="messages of one job on a topic that it writes, or the most of a range",
    )
    external: values.Share = Field(0.0, description="of the topics that are written from outside")
    external_burst: values.Counts = Field(
        [1], description="messages from outside that may come at once, if their period is known"
    )
    depth: values.Counts = Field([1], description="of a topic's queues")
    best_effort: values.Share = Field(0.0, description="of the topics")
    max_age: values.Range = Field([0.0], description="of the period of the data's source")
    chains: values.Whole = Field([0], description="how many")
    chain_length: values.Counts = Field([2, 6], description="callbacks, where there are as many")
    max_latency: values.Range = Field([0.0], description="of the periods along the chain")
    scenarios: values.Whole = Field([0], description="how many, each with changes of its own")
    switches: values.Whole = Field([0], description="how many, where there are scenarios")
    locks: values.Whole = Field(
        [0], description="how many, in each process; under edf where no age is limited"
    )
    overheads: values.Time = Field(0, description="the most of each")
    processes: values.Counts = Field(
        [1], description="how many; 1: no robot, but an application with the policy"
    )
    executors: Annotated[list[values.ProcessExecutor], Field(min_length=1)] = Field(
        list(get_args(values.ProcessExecutor)),
        description="of processes, to choose from: policies of takt, and executors of rclcpp",
    )
    handover: values.Time = Field(
        300_000, description="of messages between processes, at most; default: 300us"
    )
    threads: values.Share = Field(
        0.0, description="of a robot's processes that have a thread which receives their topics"
    )
    several_cores: values.Share = Field(
        0.0, description="of a robot's processes that have all cores, if they may"
    )
    at_once: values.Share = Field(
        0.0,
        description="of the callbacks of a robot's processes with several threads, if they may: "
        "several of their jobs run at once",
    )
    reservations: values.Share = Field(
        0.0, description="of a robot's processes of one thread that have a reservation"
    )
    quotas: values.Share = Field(
        0.0, description="of the other ones that have a nice value and a quota, one on each core"
    )
    hosts: values.Counts = Field([1], description="of a robot, at most; each process has one")
    link: values.Time = Field(
        2_000_000, description="of messages between hosts, at most; default: 2ms"
    )
    services: values.Share = Field(
        0.0,
        description="of the timers that become servers of other callbacks, in every other "
        "application without scenarios and limits of ages",
    )

    @property
    def suspends(self) -> bool:
        """Whether callbacks may wait: where it is asked for, and the policy lets them."""
        return self.suspension[-1] > 0 and self.policy in SUSPENDING

    @property
    def plain(self) -> bool:
        """Nothing is asked for but what the thesis has."""
        return self.deadlines != "range" and not self._beyond()

    def document(self) -> dict[str, Any]:
        """As JSON would have them, for a manifest; periods in ns, sizes in bytes."""
        given = {*Thesis.model_fields, *self._beyond()}
        return self.model_dump(mode="json", include=given, exclude_none=True)

    def _beyond(self) -> list[str]:
        """What is asked for beyond the thesis."""
        return [name for name, off in _OFF.items() if getattr(self, name) != off]


_OFF = {
    name: field.default
    for name, field in Parameters.model_fields.items()
    if name not in Thesis.model_fields
}


def _share_of(nodes: int, share: float) -> int:
    return max(1, round(nodes * share)) if share > 0 else 0


def violations(wanted: Thesis) -> Iterator[tuple[str, str, str]]:
    """Broken restrictions (numbers of the thesis): the key, what is wrong, what to do."""
    nodes, total = wanted.nodes, wanted.utilization
    if nodes <= 1:
        yield "nodes", f"restriction 1: {nodes} is not more than one node", "use 2 or more"
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
        yield "pubsub", "subscribers without publishers", "give publishers a share"
    elif publishers == 1 and subscribers == nodes:
        what = "restriction 5: the only publisher would subscribe to its own topic"
        yield "pubsub", what, "use more publishers, or fewer subscribers"
    if publishers and not wanted.message_size:
        yield "message_size", "publishers need a message size", 'add "message_size": "512kB"'
    room = nodes * wanted.most
    if total > room:
        if wanted.deadlines == "wcet" and wanted.most < wanted.utilization_max:
            least = wanted.deadlines_wcet[0]
            what = f"restriction 6: with deadlines of {least:g} × wcet, some are above the period"
            yield "deadlines_wcet", what, f"{nodes} nodes can have a utilization of {room:g}"
        else:
            what = (
                f"{nodes} nodes with at most {wanted.utilization_max:g} each cannot reach {total:g}"
            )
            yield "utilization_max", what, f"increase it to at least {total / nodes:g}"
    elif wanted.utilization_generator == "uunifast" and total > wanted.most:
        what = f"uunifast does not keep a task's utilization below {wanted.most:g}"
        yield (
            "utilization_generator",
            what,
            "use fixed-sum or uunifast-discard, or remove the limit",
        )
    if wanted.utilization_max > 1:
        what = "restriction 7: a task with a utilization above 1 computes for more than its period"
        yield "utilization_max", what, "give at most 1"
