# SPDX-License-Identifier: Apache-2.0
"""The picture of nodes and topics, each node in the colour of its process."""

from __future__ import annotations

from takt.schedule.application.flat import flat
from takt.schedule.application.model import Application
from takt.schedule.robot.figures import Callback, Figures
from takt.schedule.robot.topics import inputs
from takt.schedule.view.graph import Graph, Key, drawn, node_of


def drawing(application: Application, figures: Figures, measured: bool) -> Graph:
    """Nodes with their largest bound and longest response, topics as the description has them.

    A driver is a node of its own; threads that receive are left out.

    ``measured``: the measured responses, not the simulated ones.
    """
    nodes: dict[str, list[Callback]] = {node: [] for node in application.nodes}
    for part in figures.processes:
        for one in part.callbacks:
            nodes[node_of(one.bound.name)].append(one)
    drivers = {part.name: part.callbacks for part in figures.drivers}
    nodes |= drivers
    lines: dict[Key, str] = {("node", node): _line(some, measured) for node, some in nodes.items()}
    links: dict[tuple[Key, Key], str] = {}
    for callback in flat(application)["callbacks"]:
        node: Key = ("node", callback["node"])
        calls = [part["call"] for part in callback.get("segments", []) if "call" in part]
        for topic in (*callback["writes"], *calls):
            links[node, ("topic", topic)] = ""
        for topic in inputs(callback):
            links[("topic", topic), node] = ""
    for name in drivers:
        for topic in application.threads[name].writes:
            links[("node", name), ("topic", topic)] = ""
    for key in sorted({key for link in links for key in link} - set(lines)):
        used = sum(key == of for of, _ in links)
        lines[key] = f"{used} reader" + "s" * (used != 1)
    colours = {node: part.colour for part in reversed(figures.parts) for node in part.nodes}
    return drawn(lines, links, {("node", node): colour for node, colour in colours.items()})


def _line(callbacks: list[Callback], measured: bool) -> str:
    if not callbacks:
        return "inactive"
    bounds = [one.bound.response_us for one in callbacks]
    known = [bound for bound in bounds if bound is not None]
    proved = f"≤ {max(known) / 1000:.4g} ms" if len(known) == len(bounds) and known else "no bound"
    series = [one.measured if measured else one.simulated for one in callbacks]
    longest = max((one.most for one in series if one), default=None)
    return proved if longest is None else f"{proved}, max {longest / 1000:.4g} ms"
