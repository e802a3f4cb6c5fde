# SPDX-License-Identifier: Apache-2.0
"""Requests that nobody waits for, as the core knows them: messages to the server and back.

The requests of a service are a topic that releases its server, and the responses are one that the
server writes and that releases the callbacks of its clients. A server that clients wait for, with
call, is a service for the core; where others request it without a wait, it is both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from takt.documents.yaml_file import Location, Source
from takt.errors import TaktError, together
from takt.schedule.application.callback import Callback
from takt.schedule.application.model import Application
from takt.schedule.ros2.topics import plain, request_topic, response_topic, service_name

DEPTH = 10  # of a queue of requests or responses: rclcpp's default for services
Part = dict[str, Any]
Names = dict[str, str]  # of services, by the topics of their requests or responses


class Services:
    """Those of an application, by their names without the first slash."""

    def __init__(self, application: Application) -> None:
        every = application.callbacks.values()
        self._served = {plain(one.service) for one in every if one.service}
        self._answered = {plain(one.response) for one in every if one.response}
        asked = {plain(name) for one in every for name in one.requests}
        outside = {plain(name) for name in application.topics} & self._served
        self._called = {plain(part.call) for one in every for part in one.segments if part.call}
        self._messages = asked | outside | self._answered

    def release(self, callback: Callback) -> Part:
        """What releases a server or the callback of a client; nothing for other callbacks."""
        if callback.response is not None:
            found = {"kind": "message", "trigger": response_topic(callback.response)}
        elif callback.service is None:
            return {}
        elif plain(callback.service) not in self._messages:
            return {"kind": "service", "trigger": callback.service}
        elif plain(callback.service) in self._called:
            return {"kind": "service", "trigger": request_topic(callback.service)}
        else:
            found = {"kind": "message", "trigger": request_topic(callback.service)}
        return found if callback.overrun else {**found, "overrun": "catch_up"}

    def writes(self, callback: Callback) -> list[str]:
        """What it publishes besides its messages."""
        found = [request_topic(name) for name in callback.requests]
        if callback.service is not None and plain(callback.service) in self._answered:
            found.append(response_topic(callback.service))
        return found

    def called(self, name: str) -> str:
        """The service of a call, as the core names it."""
        return request_topic(name) if plain(name) in self._messages else name

    def topic(self, name: str) -> str:
        """What an entry below topics is about."""
        return request_topic(name) if plain(name) in self._served else name


def used_topics(application: Application) -> Iterator[str]:
    """The topics behind services."""
    services = Services(application)
    for callback in application.callbacks.values():
        yield from services.writes(callback)
        release = services.release(callback)
        if service_name(release.get("trigger", "")):
            yield release["trigger"]


def check_services(application: Application, source: Source) -> None:
    """Each request has a server. Raises TaktError with all faults."""
    servers = {
        plain(one.service): name for name, one in application.callbacks.items() if one.service
    }
    faults = []
    for place, service in _named(application):
        name = plain(service)
        where = source.where(place)
        if name not in servers:
            known = ", ".join(f"/{one}" for one in servers)
            fix = f"the services are {known}" if known else "no callback has a service"
            text = f"{fix}; give the callback that answers it service: {service}"
            faults.append(TaktError(f"service {service} has no server", where=where, fix=text))
    if faults:
        raise together(faults)


def _named(application: Application) -> Iterator[tuple[Location, str]]:
    """What needs a server whose clients do not wait."""
    for node, callbacks in application.nodes.items():
        for name, one in callbacks.items():
            for place, service in enumerate(one.requests):
                yield ("nodes", node, name, "requests", place), service
            if one.response is not None:
                yield ("nodes", node, name, "response"), one.response
    servers = {plain(one.service) for one in application.callbacks.values() if one.service}
    for name in application.topics:
        if plain(name) in servers:
            yield ("topics", name), name


def as_written(document: Part) -> Part:
    """A flat form whose requests and responses have the names of their services again.

    Callbacks get the keys ``service``, ``response`` and ``requests``.
    """
    triggers = {str(one.get("trigger", "")) for one in document["callbacks"]}
    services = {topic: service_name(topic) for topic in triggers}
    requests = {
        topic: name for topic, name in services.items() if name and topic == request_topic(name)
    }
    responses = {response_topic(name): name for name in requests.values()}
    usual = ("depth", DEPTH)
    topics = [
        {key: value for key, value in one.items() if (key, value) != usual}
        | {"name": requests[one["name"]]}
        if one["name"] in requests
        else one
        for one in document.get("topics", [])
        if one["name"] not in responses
    ]
    callbacks = [_as_written(one, requests, responses) for one in document["callbacks"]]
    return document | {"callbacks": callbacks, "topics": topics}


def _as_written(callback: Part, requests: Names, responses: Names) -> Part:
    writes = callback.get("writes", [])
    found = callback | {
        "writes": [one for one in writes if one not in requests and one not in responses],
        "requests": [requests[one] for one in writes if one in requests],
    }
    trigger = callback.get("trigger", "")
    if callback.get("kind") == "service":
        found["trigger"] = requests.get(trigger, trigger)
    if "segments" in callback:
        found["segments"] = [
            one | {"call": requests[one["call"]]} if one.get("call") in requests else one
            for one in callback["segments"]
        ]
    for key, names in (("service", requests), ("response", responses)):
        if trigger in names:
            found[key] = names[trigger]
            if found.get("overrun") == "catch_up":
                del found["overrun"]
    return found
