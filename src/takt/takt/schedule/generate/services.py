# SPDX-License-Identifier: Apache-2.0
"""Services: timers that become servers, and callbacks that call them or send them requests."""

from __future__ import annotations

from takt.schedule.application.executors import IDLING
from takt.schedule.application.services import DEPTH
from takt.schedule.generate.draft import Draft, Entry
from takt.schedule.generate.parameters import SUSPENDING
from takt.schedule.generate.timing import set_distance
from takt.schedule.ros2.topics import request_topic, response_topic

MOST_CLIENTS = 2  # of a service
WAITS = 0.25  # of the clients that wait for a device, too
LONGEST_WAIT = 0.1  # of the period


def add_services(draft: Draft) -> None:
    """In every other application, where the rest of it allows them."""
    wanted, chance = draft.wanted, draft.chance
    if not wanted.services or chance.happens() or not _are_allowed(draft):
        return
    servers = [one for one in draft.timers if chance.happens(wanted.services)]
    for number, server in enumerate(servers, 1):
        others = [one for one in draft.callbacks if one is not server]
        clients = [one for one in others if draft.rate(one) and not _leads(draft, server, one)]
        if "trigger" in server or len(draft.timers) == 1 or not clients or _idles(draft, server):
            continue
        waiting = [one for one in clients if _may_wait(draft, one)]
        if waiting and chance.happens():
            _call(draft, server, waiting, f"/service{number}")
        else:
            _request(draft, server, clients, f"service{number}")
    _forget_distances(draft)


def _forget_distances(draft: Draft) -> None:
    """Of messages, as they were declared: servers publish whenever somebody asks."""
    if draft.document.get("policy") == "rm":  # there they are ranks
        return
    for callback in draft.callbacks:
        if (
            callback.get("kind") == "message"
            and draft.rate(callback)
            and not _idles(draft, callback)
        ):
            callback.pop("period", None)


def _are_allowed(draft: Draft) -> bool:
    """What the analysis does not know together with calls is refused by the core.

    An idling policy looks ahead to the timer of the shortest period, which stays one.
    """
    if draft.document.get("policy") in IDLING:
        return False
    return "scenarios" not in draft.document and not any(
        "max_age" in read for one in draft.callbacks for read in one["reads"]
    )


def _policy(draft: Draft, callback: Entry) -> str | None:
    """Of its process, or of the application; None: an executor of rclcpp."""
    document = draft.document
    process = next(
        (one for one in document.get("processes", []) if one["name"] == callback["process"]),
        document,
    )
    policy: str | None = process.get("policy")
    return policy


def _idles(draft: Draft, callback: Entry) -> bool:
    """Whether its policy may look ahead to its timer, and needs its period."""
    return _policy(draft, callback) in IDLING


def _may_wait(draft: Draft, callback: Entry) -> bool:
    """Whether it may wait for a response, and has something to do before and after."""
    return (
        _policy(draft, callback) in SUSPENDING
        and "group" not in callback
        and ("suspension" not in callback or "segments" in callback)
        and _can_be_cut(draft, callback)
    )


def _segments(callback: Entry) -> list[Entry]:
    execution = callback["execution"]
    whole = {"shortest": execution["best"], "longest": execution["worst"]}
    found: list[Entry] = callback.get("segments", [whole])
    return found


def _can_be_cut(draft: Draft, callback: Entry) -> bool:
    """Whether what a job does at the end is long enough for two parts."""
    return bool(_segments(callback)[-1]["longest"] >= 2 * max(1, draft.wanted.grain))


def _leads(draft: Draft, cause: Entry, callback: Entry) -> bool:
    """Whether jobs of one release the other, by messages and calls, over others as well."""
    left, known = [cause], {cause["name"]}
    while left:
        outputs = {*(one := left.pop())["writes"], *_called(one)}
        for other in draft.callbacks:
            if other.get("trigger") in outputs and other["name"] not in known:
                known.add(other["name"])
                left.append(other)
    return callback["name"] in known


def _called(callback: Entry) -> list[str]:
    return [part["call"] for part in callback.get("segments", ()) if "call" in part]


def _call(draft: Draft, server: Entry, clients: list[Entry], service: str) -> None:
    """They wait for the response."""
    before = server["period"]
    server |= {"kind": "service", "trigger": service}
    for key in ("offset", "overrun"):
        server.pop(key, None)
    for client in draft.chance.some(clients, draft.chance.whole((1, MOST_CLIENTS))):
        _cut(draft, client, {"call": service})
        if draft.chance.happens(WAITS) and _can_be_cut(draft, client):
            longest = draft.time(draft.chance.real((0, LONGEST_WAIT * draft.period(client))))
            shortest = draft.time(draft.chance.real((0, longest)))
            _cut(draft, client, {"shortest": min(shortest, longest), "longest": longest})
    _keep_utilization(draft, server, before)
    if draft.document.get("policy") not in {"rm", "dm"}:  # there the period is its rank
        del server["period"]


def _cut(draft: Draft, callback: Entry, wait: Entry) -> None:
    """A job waits before it has done the last part of what it does at the end so far."""
    grain = max(1, draft.wanted.grain)
    segments = _segments(callback)
    last = segments[-1]
    after = grain * draft.chance.whole((1, last["longest"] // grain - 1))
    shortest = min(after, int(last["shortest"] * after / last["longest"]) // grain * grain)
    first = {
        "shortest": min(last["shortest"] - shortest, last["longest"] - after),
        "longest": last["longest"] - after,
    }
    segments = [*segments[:-1], first, wait, {"shortest": shortest, "longest": after}]
    best, worst = (sum(part[key] for part in segments[::2]) for key in ("shortest", "longest"))
    callback |= {
        "execution": _between(best, worst),
        "segments": segments,
        "suspension": sum(part.get("longest", 0) for part in segments[1::2]),
        "suspensions": len(segments) // 2,
    }


def _keep_utilization(draft: Draft, callback: Entry, before: int) -> None:
    """Released more often than with the period before, it takes as much of its core as then."""
    share = min(1.0, draft.period(callback) / before)
    parts = [_shorter(draft, one, share) for one in _segments(callback)[::2]]
    best, worst = (sum(part[key] for part in parts) for key in ("shortest", "longest"))
    callback["execution"] = _between(best, worst)
    if "segments" in callback:
        callback["segments"][::2] = parts


def _shorter(draft: Draft, part: Entry, share: float) -> Entry:
    longest = draft.time(share * part["longest"])
    grain = max(1, draft.wanted.grain)
    shortest = int(share * part["shortest"]) // grain * grain
    return {"shortest": min(longest, shortest), "longest": longest}


def _between(best: int, worst: int) -> Entry:
    return {
        "best": best,
        "worst": worst,
        "quantiles": [worst] if best == worst else [best, worst],
    }


def _request(draft: Draft, server: Entry, clients: list[Entry], service: str) -> None:
    """They do not wait; another timer becomes the callback for the response, if there is one."""
    chance = draft.chance
    names = request_topic(service), response_topic(service)
    draft.topics.extend({"name": name, "depth": DEPTH} for name in names)
    asking = chance.some(clients, chance.whole((1, MOST_CLIENTS)))
    for client in asking:
        client["writes"].append(names[0])
    _release(draft, server, names[0])
    hearing = [
        one
        for one in draft.timers
        if one not in asking
        and not _idles(draft, one)
        and not any(_leads(draft, one, other) for other in (*asking, server))
    ]
    if hearing and len(draft.timers) > 1:
        server["writes"].append(names[1])
        _release(draft, chance.pick(hearing), names[1])
    else:
        draft.topics.pop()


def _release(draft: Draft, callback: Entry, topic: str) -> None:
    before = callback["period"]
    callback |= {"kind": "message", "trigger": topic, "overrun": "catch_up"}
    callback.pop("offset", None)
    _keep_utilization(draft, callback, before)
    if "policy" in draft.document:
        set_distance(draft, callback)
    else:
        del callback["period"]
