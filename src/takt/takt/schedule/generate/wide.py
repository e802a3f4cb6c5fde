# SPDX-License-Identifier: Apache-2.0
"""Applications beyond the thesis: all that an app.yaml can say, each as often as asked for."""

from __future__ import annotations

from takt.schedule.application.model import Overheads
from takt.schedule.generate.ages import add_ages, raise_ages
from takt.schedule.generate.at_once import add_at_once
from takt.schedule.generate.chains import add_chains
from takt.schedule.generate.chance import Chance
from takt.schedule.generate.draft import Draft, Entry
from takt.schedule.generate.locks import add_locks
from takt.schedule.generate.parameters import Parameters
from takt.schedule.generate.processes import add_processes, number_of_processes
from takt.schedule.generate.scenarios import add_scenarios
from takt.schedule.generate.services import add_services
from takt.schedule.generate.timing import add_timing
from takt.schedule.generate.topics import add_bursts, add_topics


def widen(document: Entry, wanted: Parameters, chance: Chance) -> float:
    """Adds to an application of the thesis what it cannot say; returns its utilization."""
    draft = Draft(document, wanted, chance)
    processes = number_of_processes(draft)
    add_topics(draft)
    add_timing(draft)
    add_ages(draft)
    add_chains(draft)
    utilization = draft.utilization()
    add_scenarios(draft)
    raise_ages(draft)
    if wanted.overheads:
        document["overheads"] = {
            key: chance.whole((0, wanted.overheads))
            for key in Overheads.model_fields
            if key != "measured" and chance.happens()
        }
    _share_nodes(draft)
    add_bursts(draft)
    if processes > 1:
        add_processes(draft, processes)
    if wanted.services:
        add_services(draft)
        utilization = draft.utilization()
    add_locks(draft)
    add_at_once(draft)
    return utilization


def _share_nodes(draft: Draft) -> None:
    """Moves callbacks into others' nodes; those of a node stand together, as in an app.yaml."""
    chance = draft.chance
    nodes = [one["node"] for one in draft.callbacks]
    names = {}
    for number, callback in enumerate(draft.callbacks, 1):
        if chance.happens(draft.wanted.together):
            node = chance.pick(nodes)
            if node != callback["node"]:
                names[callback["name"]] = f"{node}.run{number}"
                callback |= {"name": f"{node}.run{number}", "node": node}
    order = list(dict.fromkeys(one["node"] for one in draft.callbacks))
    draft.callbacks.sort(key=lambda one: order.index(one["node"]))
    for chain in draft.document.get("chains", []):
        chain["callbacks"] = [names.get(one, one) for one in chain["callbacks"]]
    for scenario in draft.document.get("scenarios", []):
        for change in scenario["tasks"]:
            change["task"] = names.get(change["task"], change["task"])
