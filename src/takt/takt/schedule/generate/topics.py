# SPDX-License-Identifier: Apache-2.0
"""Who writes and reads what, whom messages release, what comes from outside, how it is kept."""

from __future__ import annotations

from takt.schedule.generate.draft import Draft, Entry


def add_topics(draft: Draft) -> None:
    """More writers and inputs, messages that release, topics from outside, queues."""
    wanted, chance = draft.wanted, draft.chance
    for topic in draft.topics:
        _add_writers(draft, topic["name"], chance.whole(wanted.writers) - 1)
    for callback in draft.callbacks:
        if callback["reads"]:
            _add_inputs(draft, callback, chance.whole(wanted.readings) - 1)
    for topic in draft.topics:
        if chance.happens(wanted.external):
            _from_outside(draft, topic)
    for callback in draft.callbacks:
        if callback["reads"] and chance.happens(wanted.messages):
            _release_by_message(draft, callback)
    for topic in draft.topics:
        depth = chance.whole(wanted.depth)
        if depth > 1:
            topic["depth"] = depth
        if chance.happens(wanted.best_effort):
            topic["reliable"] = False
        elif chance.happens(wanted.best_effort):
            topic["reliable"] = True


def _add_writers(draft: Draft, topic: str, count: int) -> None:
    others = [
        one
        for one in draft.callbacks
        if topic not in one["writes"] and topic not in draft.inputs(one)
    ]
    for writer in draft.chance.some(others, count):
        writer["writes"].append(topic)


def _add_inputs(draft: Draft, reader: Entry, count: int) -> None:
    known = {*draft.inputs(reader), *reader["writes"]}
    others = [one["name"] for one in draft.topics if one["name"] not in known]
    reader["reads"] += [{"topic": topic} for topic in draft.chance.some(others, count)]


def _from_outside(draft: Draft, topic: Entry) -> None:
    """Written by somebody else as well, or by nobody else; how often need not be known."""
    chance = draft.chance
    topic["external"] = True
    known = not chance.happens(0.25)
    topic["external_period"] = chance.pick(draft.callbacks)["period"] if known else 0
    if chance.happens():
        for writer in draft.writers(topic["name"]):
            writer["writes"].remove(topic["name"])
    if known and draft.wanted.external_burst[-1] > 1 and chance.happens():
        topic["external_burst"] = chance.whole(draft.wanted.external_burst)


def _release_by_message(draft: Draft, callback: Entry) -> None:
    """By the first topic that it reads, unless it would release itself or the last timer goes."""
    topic = callback["reads"][0]["topic"]
    itself = any(
        draft.releases(written, writer)
        for written in callback["writes"]
        for writer in draft.writers(topic)
    )
    if itself or topic in callback["writes"] or len(draft.timers) == 1:
        return
    callback["reads"] = callback["reads"][1:]
    callback |= {"kind": "message", "trigger": topic}


def add_bursts(draft: Draft) -> None:
    """In every other application, every other output has several messages of each job.

    Every other number of them is the most of a range.
    """
    chance = draft.chance
    if draft.wanted.burst[-1] == 1 or chance.happens():
        return
    for callback in draft.callbacks:
        counts = {
            topic: chance.whole(draft.wanted.burst)
            for topic in callback["writes"]
            if chance.happens()
        }
        if several := {topic: most for topic, most in counts.items() if most > 1}:
            callback["messages"] = {
                topic: [chance.whole([1, most - 1]), most] if chance.happens() else most
                for topic, most in several.items()
            }
