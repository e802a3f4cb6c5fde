# SPDX-License-Identifier: Apache-2.0
"""Names of topics, and of the topics behind services."""

from __future__ import annotations

import re

REQUEST, RESPONSE = "/_service/request", "/_service/response"


def plain(topic: str) -> str:
    """A topic as the description names it; ROS puts a slash before it."""
    return topic.removeprefix("/")


def topic_name(topic: str) -> str:
    """A topic as an app.yaml allows it, without the slash that ROS puts before it."""
    text = re.sub(r"[^A-Za-z0-9_/]", "_", plain(topic))
    return text if text[:1].isalpha() or text[:1] in {"_", "/"} else f"_{text}"


def request_topic(service: str) -> str:
    """What the requests of a service are, as messages."""
    return f"{plain(service)}{REQUEST}"


def response_topic(service: str) -> str:
    """What its responses are."""
    return f"{plain(service)}{RESPONSE}"


def service_name(topic: str) -> str | None:
    """The service whose requests or responses a topic is; None: it is another topic."""
    for end in (REQUEST, RESPONSE):
        if topic.endswith(end) and len(topic) > len(end):
            name = topic.removesuffix(end)
            return name if name[:1] in {"~", "/"} else f"/{name}"
    return None
