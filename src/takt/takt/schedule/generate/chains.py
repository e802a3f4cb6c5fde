# SPDX-License-Identifier: Apache-2.0
"""Paths of data through an application."""

from __future__ import annotations

from takt.schedule.generate.draft import Draft, Entry


def add_chains(draft: Draft) -> None:
    """Random walks from a writer to its readers, no callback twice."""
    wanted, chance = draft.wanted, draft.chance
    chains = []
    for number in range(chance.whole(wanted.chains)):
        walk = _walk(draft, chance.whole(wanted.chain_length))
        if len(walk) < 2:
            continue
        chain: Entry = {"name": f"chain{number + 1}", "callbacks": [one["name"] for one in walk]}
        if wanted.max_latency[-1] > 0 and chance.happens():
            periods = sum(draft.period(one) for one in walk)
            chain["max_latency"] = draft.time(chance.real(wanted.max_latency) * periods)
        chains.append(chain)
    if chains:
        draft.document["chains"] = chains


def _walk(draft: Draft, length: int) -> list[Entry]:
    chance = draft.chance
    heads = [one for one in draft.callbacks if _next(draft, one)]
    walk = [chance.pick(heads)] if heads else []
    while walk and len(walk) < length:
        following = [one for one in _next(draft, walk[-1]) if one not in walk]
        if not following:
            break
        # Not into a dead end where there is another way.
        onward = [one for one in following if any(two not in walk for two in _next(draft, one))]
        walk.append(chance.pick(onward or following))
    return walk


def _next(draft: Draft, callback: Entry) -> list[Entry]:
    """Who works on what it writes."""
    written = set(callback["writes"])
    return [
        one for one in draft.callbacks if one is not callback and written & set(draft.inputs(one))
    ]
