# SPDX-License-Identifier: Apache-2.0
"""Makes the application of a violation as small as it can be, while the violation stays.

Delta debugging (Zeller & Hildebrandt 2002) over the flat form: first whole parts go, in halves and
one by one, then properties, then times are rounded and shortened. Whatever is tried, the core says
whether the violation is still there; what it refuses is not tried further.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from takt.schedule.campaign import robots

Document = dict[str, Any]
Shows = Callable[[Document], bool]

PATIENCE = 4000  # applications that are tried
MS = 1_000_000
ROUND = (10 * MS, MS, MS // 10, MS // 100, MS // 1000)  # ns
TIMES = ("period", "offset", "deadline", "jitter", "suspension", "budget", "expected_execution")
NEEDED = {"name", "node", "kind", "trigger", "period", "priority", "execution", "reads", "writes"}
NEEDED |= {"process"}


def shrink(document: Document, shows: Shows) -> Document:
    """The smallest application found that still shows it; the same one always gives the same."""
    left = PATIENCE

    def tried(candidate: Document) -> bool:
        nonlocal left
        left -= 1
        return shows(candidate)

    changed = True
    while changed and left > 0:
        changed = False
        for step in (_parts, robots.smaller, _links, _properties, _times):
            candidates = step(document)
            while left > 0:
                candidate = next(candidates, None)
                if candidate is None:
                    break
                if tried(candidate):
                    document, changed = candidate, True
                    candidates = step(document)
    return document


def _parts(document: Document) -> Iterator[Document]:
    """Without some of its callbacks, scenarios, chains, switches, topics, cores."""
    for key in ("scenarios", "chains", "switches", "overheads", "default_scenario", "cpus"):
        if document.get(key):
            yield _whole(_without(document, key))
    for key in ("callbacks", "scenarios", "chains", "switches", "topics", "locks", "cpus"):
        for fewer in _fewer(document.get(key, [])):
            if fewer:
                yield _whole(document | {key: fewer})


def _links(document: Document) -> Iterator[Document]:
    """Without some inputs and outputs, triggers, callbacks of a chain, changes of a scenario."""
    for place, callback in enumerate(document["callbacks"]):
        for key in ("reads", "writes"):
            for fewer in _fewer(callback.get(key, [])):
                yield _whole(_with(document, "callbacks", place, callback | {key: fewer}))
        if "trigger" in callback:
            yield _whole(_with(document, "callbacks", place, _as_timer(callback)))
    for key, name, least in (("chains", "callbacks", 2), ("scenarios", "tasks", 0)):
        for place, part in enumerate(document.get(key, [])):
            for fewer in _fewer(part[name]):
                if len(fewer) >= least:
                    yield _with(document, key, place, part | {name: fewer})


def _properties(document: Document) -> Iterator[Document]:
    """Without some property of a callback, topic, chain, scenario, or change."""
    for place, callback in enumerate(document["callbacks"]):
        for plainer in _plainer(callback):
            yield _with(document, "callbacks", place, plainer)
    for key in ("topics", "chains", "scenarios"):
        for place, part in enumerate(document.get(key, [])):
            for name in sorted(set(part) - {"name", "callbacks", "tasks"}):
                yield _with(document, key, place, _without(part, name))
            for number, change in enumerate(part.get("tasks", [])):
                for name in sorted(set(change) - {"task"}):
                    fewer = _with(part, "tasks", number, _without(change, name))
                    yield _with(document, key, place, fewer)
    for name in document.get("overheads", {}):
        yield document | {"overheads": _without(document["overheads"], name)}


def _plainer(callback: Document) -> Iterator[Document]:
    for key in sorted(set(callback) - NEEDED):
        yield _without(callback, key)
    execution = callback["execution"]
    worst, quantiles = execution["worst"], execution["quantiles"]
    varying = {"best": execution["best"], "worst": worst, "quantiles": [quantiles[0], worst]}
    simple = _uniform(worst, worst)
    for other in (simple, varying):
        if execution not in (simple, other):
            yield callback | {"execution": other}
    for number, read in enumerate(callback.get("reads", [])):
        if "max_age" in read:
            yield _with(callback, "reads", number, {"topic": read["topic"]})


def _times(document: Document) -> Iterator[Document]:
    """With one time rounded, or shorter."""
    for place, callback in enumerate(document["callbacks"]):
        for other in _with_times(callback):
            yield _with(document, "callbacks", place, other)
        for number, read in enumerate(callback.get("reads", [])):
            for time in _simpler(read.get("max_age", 0)):
                aged = _with(callback, "reads", number, read | {"max_age": time})
                yield _with(document, "callbacks", place, aged)
    for key, name in (("topics", "external_period"), ("chains", "max_latency"), ("switches", "at")):
        for place, part in enumerate(document.get(key, [])):
            for time in _simpler(part.get(name, 0)):
                yield _with(document, key, place, part | {name: time})
    for place, scenario in enumerate(document.get("scenarios", [])):
        for number, change in enumerate(scenario["tasks"]):
            for other in _with_times(change):
                yield _with(document, "scenarios", place, _with(scenario, "tasks", number, other))


def _with_times(part: Document) -> Iterator[Document]:
    for key in TIMES:
        if part.get(key) == "unknown":  # an offset
            continue
        for time in _simpler(part.get(key, 0)):
            # What is due with its period stays so.
            due = {"deadline": time} if key == "period" == _due(part) else {}
            yield part | {key: time} | due
    execution = part.get("execution")
    if execution is None:
        return
    best, worst = execution["best"], execution["worst"]
    for time in _simpler(worst):
        least = min(best, time) if best < worst else time
        if len(execution["quantiles"]) < 3:
            yield part | {"execution": _uniform(least, time)}
    for time in _simpler(best) if best < worst else ():
        if time <= worst and len(execution["quantiles"]) < 3:
            yield part | {"execution": _uniform(time, worst)}


def _due(part: Document) -> str:
    return "period" if part.get("deadline") == part.get("period") else "deadline"


def _uniform(best: int, worst: int) -> Document:
    return {
        "best": best,
        "worst": worst,
        "quantiles": [worst] if best == worst else [best, worst],
    }


def _simpler(time: int) -> Iterator[int]:
    """Times with fewer digits, the roundest first; then shorter ones with no more of them."""
    step = max(step for step in (*ROUND, 1) if time % step == 0)
    rounder = [way // one * one for one in ROUND for way in (time, time + one)]
    few = [digit * MS for digit in (1, 2, 3, 5)]
    for other in (*rounder, *few, time // 2 // step * step, time - step):
        if other > 0 and _cost(other) < _cost(time):
            yield other


def _cost(time: int) -> tuple[int, int]:
    return len(str(time).rstrip("0")), time


def _fewer(items: list[Any]) -> Iterator[list[Any]]:
    """Halves, then all but one."""
    half = len(items) // 2
    if half > 1:
        yield items[half:]
        yield items[:half]
    for place in range(len(items)):
        yield items[:place] + items[place + 1 :]


def _as_timer(callback: Document) -> Document:
    timer = _without(_without(callback, "trigger"), "kind")
    return {"period": callback.get("deadline", 10_000_000)} | timer


def _with(whole: Document, key: str, place: int, part: Any) -> Document:
    return whole | {key: [*whole[key][:place], part, *whole[key][place + 1 :]]}


def _without(part: Document, key: str) -> Document:
    return {name: value for name, value in part.items() if name != key}


def _whole(document: Document) -> Document:
    """Without what names something that is gone."""
    callbacks = document["callbacks"]
    topics = {one["name"] for one in document.get("topics", [])}
    written = {topic for one in callbacks for topic in one.get("writes", [])} & topics
    written |= {one["name"] for one in document.get("topics", []) if one.get("external")}
    callbacks = [one for one in callbacks if one.get("trigger") in {None, *written}]
    callbacks = [
        one
        | {
            "reads": [read for read in one.get("reads", []) if read["topic"] in written],
            "writes": [topic for topic in one.get("writes", []) if topic in written],
        }
        for one in callbacks
    ]
    callbacks = [
        one
        | {"messages": {name: n for name, n in one["messages"].items() if name in one["writes"]}}
        if "messages" in one
        else one
        for one in callbacks
    ]
    document = robots.whole(document, callbacks)
    names = {one["name"] for one in callbacks}
    used = {topic for one in callbacks for topic in one["writes"]}
    used |= {read["topic"] for one in callbacks for read in one["reads"]}
    used |= {one["trigger"] for one in callbacks if "trigger" in one}
    whole = document | {
        "callbacks": callbacks,
        "topics": [one for one in document.get("topics", []) if one["name"] in used],
    }
    for chain in document.get("chains", []):
        if not names.issuperset(chain["callbacks"]):
            whole["chains"] = [one for one in whole["chains"] if one is not chain]
    if not document.get("scenarios"):
        return {key: value for key, value in whole.items()
                if key not in {"scenarios", "switches", "default_scenario"}}  # fmt: skip
    left = {one["name"] for one in document["scenarios"]}
    whole["scenarios"] = [_kept(one, names, used) for one in document["scenarios"]]
    whole["switches"] = [one for one in document.get("switches", []) if one["scenario"] in left]
    if document.get("default_scenario") not in left:
        whole = _without(whole, "default_scenario")
    return whole


def _kept(scenario: Document, names: set[str], topics: set[str]) -> Document:
    """A scenario's changes of what is still there."""
    tasks = []
    for change in scenario["tasks"]:
        if change["task"] in names:
            reads = [read for read in change.get("reads", []) if read["topic"] in topics]
            writes = [topic for topic in change.get("writes", []) if topic in topics]
            data = {"reads": reads, "writes": writes}
            tasks.append(change | {key: value for key, value in data.items() if key in change})
    return scenario | {"tasks": tasks}
