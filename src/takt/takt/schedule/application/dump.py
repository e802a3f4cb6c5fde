# SPDX-License-Identifier: Apache-2.0
"""Writes the flat form of an application as the app.yaml that people read."""

from __future__ import annotations

import itertools
import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from takt.documents.units import format_duration, format_share, format_size
from takt.schedule.application.cores import WHOLE
from takt.schedule.application.kernel_scheduling import written_scheduling
from takt.schedule.application.services import as_written

Part = dict[str, Any]
Notes = Mapping[str, Sequence[str]]
WIDTH = 110  # of a comment
_NONE: Notes = MappingProxyType({})
_NOT_AS_THEY_ARE = {
    *("name", "threads", "cpus", "priority", "nice", "reservation", "quota"),
}  # of processes


def app_yaml(document: Part, remark: str, notes: Notes = _NONE) -> str:
    """The app.yaml of a flat form; what the form leaves out is left out, too.

    ``notes`` are comments above a callback, a topic or a chain, by its name.
    """
    document = as_written(document)
    sizes = {one["name"]: one.get("bytes") for one in document.get("topics", [])}
    lines = [*(f"# {line}" for line in remark.splitlines()), f"name: {document['name']}"]
    if "cpus" in document:
        lines.append(f"cpus: {_list(document['cpus'])}")
    lines += _cores(document.get("cores", []))
    if "executor" in document:
        lines.append(f"executor: {document['executor']}")
    if "policy" in document:
        lines.append(f"policy: {document['policy']}")
    lines += _processes(document)
    lines += ["nodes:", *_nodes(document["callbacks"], sizes, notes)]
    written = {topic for one in document["callbacks"] for topic in one.get("writes", [])}
    topics = [(one["name"], _topic(one, written)) for one in document.get("topics", [])]
    lines += _block("topics", [(name, keys) for name, keys in topics if keys], notes)
    locks = [(one["name"], {"protocol": one["protocol"]}) for one in document.get("locks", [])]
    lines += _block("locks", locks)
    chains = [(one["name"], _chain(one)) for one in document.get("chains", [])]
    lines += _block("chains", chains, notes)
    timers = {one["name"] for one in document["callbacks"] if not one.get("trigger")}
    scenarios = document.get("scenarios", [])
    lines += _block("scenarios", [(one["name"], _scenario(one, timers)) for one in scenarios])
    if "default_scenario" in document:
        lines.append(f"default_scenario: {document['default_scenario']}")
    if document.get("switches"):
        lines.append("switches:")
        for one in document["switches"]:
            keys = {"at": format_duration(one["at"]), "scenario": one["scenario"]}
            lines.append(f"  - {_mapping(keys)}")
    if overheads := document.get("overheads"):
        costs = {key: format_duration(time) for key, time in overheads.items()}
        lines.append(f"overheads: {_mapping(costs)}")
    return "\n".join(lines) + "\n"


def _processes(document: Part) -> Iterator[str]:
    """The processes of a robot, and what lies between them and between its hosts."""
    if not document.get("processes"):
        return
    nodes: dict[str, dict[str, None]] = {}
    for one in document["callbacks"]:
        nodes.setdefault(one["process"], {})[one["name"].split(".")[0]] = None
    yield "processes:"
    for one in document["processes"]:
        own = {key: str(one[key]) for key in one if key not in _NOT_AS_THEY_ARE}
        own |= {"cpus": _list(one["cpus"])} if "cpus" in one else {}
        keys = own | _scheduling(one) | {"nodes": _list(nodes.get(one["name"], ()))}
        if threads := {each["name"]: _mapping(_thread(each)) for each in one.get("threads", [])}:
            keys["threads"] = _mapping(threads)
        yield f"  {one['name']}: {_mapping(keys)}"
    between = document.get("handover", {})
    if between.get("most"):
        latency = [format_duration(between["least"]), format_duration(between["most"])]
        yield f"middleware: {_mapping({'latency': _list(latency)})}"
    if links := document.get("links"):
        yield "links:"
        for one in links:
            latency = [format_duration(one["least"]), format_duration(one["most"])]
            keys = {"hosts": _list(one["hosts"]), "latency": _list(latency)}
            keys |= {key: format_share(one[key]) for key in ("loss", "drift") if one.get(key)}
            if one.get("measured"):
                keys["messages"] = str(one["measured"])
            yield f"  - {_mapping(keys)}"


def _scheduling(process: Part) -> dict[str, str]:
    return {
        key: _mapping(value) if isinstance(value, dict) else str(value)
        for key, value in written_scheduling(process).items()
    }


def _thread(thread: Part) -> dict[str, str]:
    keys: dict[str, str] = {"cpu": str(thread["cpu"])} if "cpu" in thread else {}
    keys["priority"] = str(thread["priority"])
    if receives := thread.get("receives"):
        keys["receives"] = _mapping({one["topic"]: _computes(one) for one in receives})
    if "period" in thread:
        keys["timer"] = format_duration(thread["period"])
        keys |= _times(thread, "jitter") | {"execution": _computes(thread)}
    return keys | ({"writes": _list(thread["writes"])} if thread.get("writes") else {})


def _computes(part: Part) -> str:
    """An execution time where it has no other key beside it."""
    texts = _execution(part["execution"])
    if len(texts) > 1:  # a worst case that no sample has
        return f"{{worst: {texts['wcet']}, {texts['execution'].removeprefix('{')}"
    return next(iter(texts.values()))


def _cores(cores: list[Part]) -> Iterator[str]:
    if own := [one for one in cores if not one.get("host")]:
        yield "cores:"
        yield from (f"  {one['cpu']}: {_mapping(_core(one))}" for one in own)
    hosts = dict.fromkeys(one["host"] for one in cores if one.get("host"))
    if hosts:
        yield "hosts:"
    for host in hosts:
        own = [one for one in cores if one.get("host") == host]
        yield f"  {host}:"
        yield "    cores:"
        yield from (f"      {one['cpu']}: {_mapping(_core(one))}" for one in own)


def _core(core: Part) -> dict[str, str]:
    keys: dict[str, str] = {}
    if supply := core.get("supply"):
        texts = _times(supply, "budget", "period", "delay")
        if "rate" in supply:
            texts["rate"] = f"{supply['rate'] / WHOLE:.9f}".rstrip("0").rstrip(".")
        keys["supply"] = _mapping(texts)
    keys |= _times(core, "latency")
    sources = [
        _mapping(_times(one, "period", "duration") | {"burst": str(one.get("burst", 1))})
        for one in core.get("interrupts", [])
    ]
    keys |= {"interrupts": _list(sources)} if sources else {}
    if measured := core.get("measured"):
        texts = {"windows": str(measured["windows"])} | _times(measured, "window")
        keys["measured"] = _mapping(texts)
    return keys


def _nodes(callbacks: list[Part], sizes: dict[str, int | None], notes: Notes) -> Iterator[str]:
    nodes: dict[str, dict[str, str]] = {}
    for callback in callbacks:
        node, name = callback["name"].split(".")
        nodes.setdefault(node, {})[name] = _mapping(_callback(callback, sizes))
    for node, texts in nodes.items():
        if len(texts) == 1 and not any(notes.get(f"{node}.{name}") for name in texts):
            yield f"  {node}: {_mapping(texts)}"
            continue
        yield f"  {node}:"
        for name, text in texts.items():
            yield from _comments(notes.get(f"{node}.{name}", ()), "    ")
            yield f"    {name}: {text}"


def _comments(notes: Sequence[str], indent: str) -> Iterator[str]:
    for note in notes:
        yield from textwrap.wrap(
            note, WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}#   "
        )


def _callback(callback: Part, sizes: dict[str, int | None]) -> dict[str, str]:
    keys: dict[str, str] = {}
    if callback.get("trigger"):
        keys |= _release(callback) | _times(callback, "period")
    else:
        keys["timer"] = format_duration(callback["period"])
    keys |= _offset(callback)
    keys |= _work(callback)
    keys |= _times(callback, "jitter")
    keys |= _rest(callback, sizes, callback.get("period") if "timer" in keys else None)
    if callback.get("requests"):
        keys["requests"] = _list(callback["requests"])
    if callback.get("group"):
        keys["group"] = _text(callback["group"])
    if callback.get("join"):
        keys["join"] = callback["join"]
    if callback.get("publishes", "end") != "end":
        keys["publishes"] = callback["publishes"]
    if callback.get("at_once", 1) > 1:
        keys["at_once"] = str(callback["at_once"])
    if sections := callback.get("critical_sections"):
        keys["critical_sections"] = _list(_mapping(_section(one)) for one in sections)
    if callback.get("cpu", -1) >= 0:
        keys["cpu"] = str(callback["cpu"])
    if callback.get("recorded"):
        keys["recorded"] = _text(callback["recorded"])
    return keys


def _release(callback: Part) -> dict[str, str]:
    if callback.get("kind") == "service":
        return {"service": callback["trigger"]}
    key = next((key for key in ("service", "response") if key in callback), "on")
    return {key: callback[key if key in callback else "trigger"]}


def _work(callback: Part) -> dict[str, str]:
    """How long a job computes and waits."""
    if segments := callback.get("segments"):
        return {"segments": _list(map(_segment, segments, itertools.cycle((False, True))))}
    keys = _execution(callback["execution"]) | _times(callback, "suspension")
    if callback.get("suspensions"):
        keys["suspensions"] = str(callback["suspensions"])
    return keys


def _segment(segment: Part, waits: bool) -> str:
    if "call" in segment:
        return _mapping({"call": segment["call"]})
    if not waits:
        return _length(segment)
    device = {"device": segment["device"]} if "device" in segment else {}
    return _mapping({"wait": _length(segment)} | device)


def _section(section: Part) -> dict[str, str]:
    return {"lock": section["lock"], **_times(section, "begin"), "length": _length(section)}


def _length(part: Part) -> str:
    longest: int = part["longest"]
    length = format_duration(longest)
    if part.get("shortest", longest) < longest:
        return _mapping({"best": format_duration(part["shortest"]), "worst": length})
    return length


def _rest(part: Part, sizes: dict[str, int | None], period: int | None) -> dict[str, str]:
    """What callbacks and changes of them share."""
    keys = {"priority": str(part["priority"])} if part.get("priority") else {}
    if part.get("deadline") and part["deadline"] != period:
        keys |= _times(part, "deadline")
    keys |= _times(part, "budget")
    if "overrun" in part:
        keys["overrun"] = part["overrun"]
    if "active" in part:
        keys["active"] = str(part["active"]).lower()
    if reads := part.get("reads"):
        ages = {one["topic"]: _mapping(_times(one, "max_age")) for one in reads}
        limited = any(one.get("max_age") for one in reads)
        keys["reads"] = _mapping(ages) if limited else _list(ages)
    if writes := part.get("writes"):
        messages = part.get("messages", {})
        written = {topic: _write(sizes.get(topic), messages.get(topic, 1)) for topic in writes}
        named = any(text == "{}" for text in written.values()) and not messages
        keys["writes"] = _list(written) if named else _mapping(written)
    return keys


def _write(size: int | None, messages: int | list[int]) -> str:
    """A size alone where that says all."""
    if messages == 1:
        return "{}" if size is None else format_size(size)
    sized = {} if size is None else {"size": format_size(size)}
    return _mapping(sized | {"messages": str(messages)})


def _execution(execution: Part) -> dict[str, str]:
    """A constant, a range, a normal distribution, or else what was observed."""
    worst: int = execution["worst"]
    best: int = execution.get("best", worst)
    quantiles = execution.get("quantiles", [worst])
    if "wcet" in execution and (best < worst or execution["wcet"] != worst):
        samples_of = {key: one for key, one in execution.items() if key != "wcet"}
        texts = _execution(samples_of)
        texts["execution"] = texts.get("execution", format_duration(worst))
        return texts | {"wcet": format_duration(execution["wcet"])}
    if "mean" in execution:
        order = ("best", "mean", "deviation", "worst")
        return {"execution": _mapping({key: format_duration(execution[key]) for key in order})}
    if quantiles == [worst] and best == worst:
        return {"wcet": format_duration(worst)}
    if quantiles == [best, worst]:
        texts = {"best": format_duration(best), "worst": format_duration(worst)}
        return {"execution": _mapping(texts)}
    samples = {"samples": _list(map(format_duration, quantiles))}
    if best != quantiles[0]:
        samples = {"best": format_duration(best), **samples}
    declared = {"wcet": format_duration(worst)} if worst != quantiles[-1] else {}
    return declared | {"execution": _mapping(samples)}


def _topic(topic: Part, written: set[str]) -> dict[str, str]:
    keys = {}
    if "bytes" in topic and topic["name"] not in written:
        keys["size"] = format_size(topic["bytes"])
    if "depth" in topic:
        keys["depth"] = str(topic["depth"])
    if "reliable" in topic:
        keys["reliability"] = "reliable" if topic["reliable"] else "best_effort"
    if topic.get("external"):
        keys["external_period"] = format_duration(topic.get("external_period", 0))
    if topic.get("external_burst", 1) > 1:
        keys["external_burst"] = str(topic["external_burst"])
    return keys


def _chain(chain: Part) -> dict[str, str]:
    return {"callbacks": _list(chain["callbacks"]), **_times(chain, "max_latency")}


def _offset(callback: Part) -> dict[str, str]:
    unknown = callback.get("offset") == "unknown"
    return {"offset": "unknown"} if unknown else _times(callback, "offset")


def _scenario(scenario: Part, timers: set[str]) -> dict[str, str]:
    policy = {"policy": scenario["policy"]} if "policy" in scenario else {}
    changes = scenario.get("tasks", [])
    return policy | {one["task"]: _mapping(_change(one, timers)) for one in changes}


def _change(change: Part, timers: set[str]) -> dict[str, str]:
    keys = {}
    if "period" in change:
        name = "timer" if change["task"] in timers else "period"
        keys[name] = format_duration(change["period"])
    keys |= _times(change, "offset")
    if "expected_execution" in change:
        keys["wcet"] = format_duration(change["expected_execution"])
    return keys | _rest(change, {}, None)


def _block(key: str, parts: list[tuple[str, dict[str, str]]], notes: Notes = _NONE) -> list[str]:
    lines = [f"{key}:"] if parts else []
    for name, keys in parts:
        lines += [*_comments(notes.get(name, ()), "  "), f"  {name}: {_mapping(keys)}"]
    return lines


def _times(part: Part, *keys: str) -> dict[str, str]:
    return {key: format_duration(part[key]) for key in keys if part.get(key)}


def _text(text: str) -> str:
    """As it is where YAML cannot take it for anything else, else quoted."""
    return text if re.fullmatch(r"[A-Za-z_]\w*", text) else json.dumps(text, ensure_ascii=False)


def _mapping(texts: dict[str, str]) -> str:
    return f"{{{', '.join(f'{key}: {text}' for key, text in texts.items())}}}"


def _list(items: Any) -> str:
    return f"[{', '.join(map(str, items))}]"
