# SPDX-License-Identifier: Apache-2.0
"""Robots: the nodes of an application in several processes, each with an executor of its own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from takt.schedule.application.executors import IDLING, SEVERAL_THREADS, STOCK_EXECUTORS
from takt.schedule.generate.draft import Draft, Entry
from takt.schedule.generate.kernel_scheduling import schedule_by_the_kernel
from takt.schedule.generate.parameters import Parameters

LOWEST, APART = 10, 17  # real-time priorities; a process's threads need some from its own on
ABOVE = 94  # of threads, one for each process
MOST = 5  # processes, so that all priorities are below the highest
# What no robot of several processes has.
REFUSED = {"suspension": 0.0, "pinned": 0.0}


def contradictions(wanted: Parameters) -> Iterator[tuple[str, str, str]]:
    """What cannot be asked for together with processes: the key, what is wrong, what to do."""
    if wanted.processes[-1] > MOST:
        yield "processes", f"{wanted.processes[-1]} processes", f"ask for at most {MOST}"
    for key, off in REFUSED.items():
        value = getattr(wanted, key)
        if wanted.processes[-1] > 1 and (value[-1] if isinstance(value, list) else value) != off:
            yield key, f"a robot of several processes has no {key}", f"remove {key}, or processes"


def number_of_processes(draft: Draft) -> int:
    """Drawn before all else; 1: an application that is no robot."""
    wanted = draft.wanted.processes
    number = draft.chance.whole(wanted) if wanted[-1] > 1 else 1
    if number > 1:
        draft.document["policy"] = "edf"  # all have deadlines, whatever their executor
    return number


def add_processes(draft: Draft, number: int) -> None:
    """The last step: what a node has is decided."""
    chance, document = draft.chance, draft.document
    nodes = list(dict.fromkeys(one["node"] for one in draft.callbacks))
    cores = len(document.pop("cpus", [0]))
    del document["policy"]
    names = [f"process{place}" for place in range(1, min(number, len(nodes)) + 1)]
    priorities = chance.some([LOWEST + APART * place for place in range(MOST)], len(names))
    document["processes"] = [
        {"name": name, **_executor(draft), "cpu": chance.pick(range(cores)), "priority": priority}
        for name, priority in zip(names, priorities, strict=True)
    ]
    of_rclcpp = {
        one["name"] for one in document["processes"] if one.get("executor") in SEVERAL_THREADS
    }
    # Each has a node.
    drawn = chance.some(nodes, len(nodes))
    homes = dict(zip(drawn, names, strict=False))
    homes |= {node: chance.pick(names) for node in drawn[len(names) :]}
    for callback in draft.callbacks:
        callback["process"] = homes[callback["node"]]
        if "group" in callback:  # no executor keeps callbacks of another process apart
            callback["group"] += f"_{callback['process']}"
            if callback["process"] in of_rclcpp:  # and groups of its threads are of one node
                callback["group"] += f"_{callback['node']}"
    for process in document["processes"]:
        _fit_to_idling(draft, process)
    _fit_scenarios(draft)
    _spread(draft, cores)
    schedule_by_the_kernel(draft, cores)
    most = draft.wanted.handover
    document["handover"] = {"least": chance.whole((0, most)), "most": most}
    _add_threads(draft)
    _add_hosts(draft)


def _spread(draft: Draft, cores: int) -> None:
    """Some executors have several cores: no two processes have one priority."""
    share = draft.wanted.several_cores
    for process in draft.document["processes"]:
        if not share or cores < 2 or process.get("policy") in IDLING:
            continue
        if draft.chance.happens(share):
            del process["cpu"]
            process["cpus"] = list(range(cores))


def _fit_to_idling(draft: Draft, process: Entry) -> None:
    """What policies ask for that leave the core idle on purpose."""
    if process.get("policy") not in IDLING:
        return
    own = [one for one in draft.callbacks if one["process"] == process["name"]]
    timers = [one["period"] for one in own if "trigger" not in one]
    by_period = process["policy"] == "p-rm"
    if by_period and not timers:  # it looks ahead to the timer of the shortest period
        process["policy"] = "np-fp"
        return
    for one in own:
        if "trigger" in one and by_period:
            one["period"] = max(draft.period(one), one["deadline"], min(timers))
        if "period" in one:
            one["deadline"] = min(one["deadline"], one["period"])


def _fit_scenarios(draft: Draft) -> None:
    """What a process can follow: no policy, no topics, nothing of executors without scenarios."""
    if "scenarios" not in draft.document:
        return
    kept = {
        one["name"]
        for one in draft.document["processes"]
        if one.get("policy", IDLING[0]) not in IDLING
    }
    followed = {one["name"] for one in draft.callbacks if one["process"] in kept}
    for callback in draft.callbacks:
        if callback["name"] not in followed:
            callback.pop("active", None)
    for scenario in draft.document["scenarios"]:
        scenario.pop("policy", None)
        scenario["tasks"] = [
            {key: value for key, value in one.items() if key not in ("reads", "writes")}
            for one in scenario["tasks"]
            if one["task"] in followed
        ]


def _add_threads(draft: Draft) -> None:
    """Each receives what its process reads of others, above or below all processes."""
    chance, share = draft.chance, draft.wanted.threads
    if not share:
        return
    for place, process in enumerate(draft.document["processes"]):
        own = [one for one in draft.callbacks if one["process"] == process["name"]]
        written = {topic for one in own for topic in one["writes"]}
        topics = sorted({topic for one in own for topic in draft.inputs(one)} - written)
        if not topics or not chance.happens(share):
            continue
        receives = []
        for topic in topics:
            worst = draft.time(chance.whole((1, max(1, draft.wanted.handover))))
            execution = {"best": worst, "worst": worst, "quantiles": [worst]}
            receives.append({"topic": topic, "execution": execution})
        priority = chance.pick((LOWEST - 1 - place, ABOVE + place))
        process["threads"] = [{"name": "dds", "priority": priority, "receives": receives}]


def _add_hosts(draft: Draft) -> None:
    """Each process on one of them, and a link between each two."""
    chance, document = draft.chance, draft.document
    wanted = draft.wanted.hosts
    number = chance.whole(wanted) if wanted[-1] > 1 else 1
    if number < 2:
        return
    for process in document["processes"]:
        process["host"] = f"host{chance.whole((1, number))}"
    hosts = sorted({one["host"] for one in document["processes"]})
    document["links"] = []
    for pair in combinations(hosts, 2):
        most = chance.whole((0, draft.wanted.link))
        times = {"least": chance.whole((0, most)), "most": most}
        document["links"].append({"hosts": list(pair), **times})


def _executor(draft: Draft) -> Entry:
    name = draft.chance.pick(draft.wanted.executors)
    return {"executor": name} if name in STOCK_EXECUTORS else {"policy": name}
