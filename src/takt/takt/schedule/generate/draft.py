# SPDX-License-Identifier: Apache-2.0
"""An application while it is drawn: its flat form, and what the steps ask of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from takt.schedule.generate.chance import Chance
from takt.schedule.generate.parameters import Parameters

Entry = dict[str, Any]  # of a callback, a topic, a scenario in the flat form


class Draft:
    """Begins as an application of the thesis: timers, each of which writes one topic at most."""

    def __init__(self, document: Entry, wanted: Parameters, chance: Chance) -> None:
        self.document = document
        self.wanted = wanted
        self.chance = chance
        self.callbacks: list[Entry] = document["callbacks"]
        self.topics: list[Entry] = document["topics"]
        self.utilizations = {one["name"]: self.worst(one) / one["period"] for one in self.callbacks}

    @property
    def policy(self) -> str:
        """Of the application; scenarios may have others."""
        policy: str = self.document["policy"]
        return policy

    @property
    def timers(self) -> list[Entry]:
        """The callbacks that no message releases."""
        return [one for one in self.callbacks if "trigger" not in one]

    def time(self, nanoseconds: float) -> int:
        """A time above 0 as it is said: a multiple of the grain."""
        grain = max(1, self.wanted.grain)
        return max(grain, int(nanoseconds) // grain * grain)

    @staticmethod
    def worst(callback: Entry) -> int:
        """The declared worst case."""
        worst: int = callback["execution"]["worst"]
        return worst

    @staticmethod
    def inputs(callback: Entry) -> list[str]:
        """The topics that it reads, and the one that releases it."""
        trigger = [callback["trigger"]] if "trigger" in callback else []
        return trigger + [read["topic"] for read in callback["reads"]]

    def writers(self, topic: str) -> list[Entry]:
        """Who publishes a topic, outside left out."""
        return [one for one in self.callbacks if topic in one["writes"]]

    def releases(self, topic: str, callback: Entry) -> bool:
        """Whether a message of the topic releases the callback, over others as well."""
        if "trigger" not in callback:
            return False
        trigger = callback["trigger"]
        return trigger == topic or any(
            self.releases(topic, writer) for writer in self.writers(trigger)
        )

    def rate(self, callback: Entry) -> float:
        """Releases in a ns; 0 where nobody knows."""
        if "trigger" not in callback:
            return 1 / int(callback["period"])
        trigger = callback["trigger"]
        if callback["kind"] == "service":
            return sum(
                self.rate(client)
                for client in self.callbacks
                for part in client.get("segments", ())
                if part.get("call") == trigger
            )
        outside = next(one for one in self.topics if one["name"] == trigger)
        period = outside.get("external_period", 0)
        return (1 / period if period else 0.0) + sum(
            self.rate(writer) for writer in self.writers(trigger)
        )

    def period(self, callback: Entry) -> int:
        """The distance of its releases on average, or as declared where nobody knows."""
        rate = self.rate(callback)
        return int(1 / rate) if rate else int(callback["period"])

    def utilization(self) -> float:
        """Of all callbacks together."""
        return sum(self.worst(one) / self.period(one) for one in self.callbacks)

    def roots(self, topic: str) -> Iterator[Entry]:
        """The timers from which the topic's data comes."""
        for writer in self.writers(topic):
            if "trigger" in writer:
                yield from self.roots(writer["trigger"])
            else:
                yield writer
