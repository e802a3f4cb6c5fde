# SPDX-License-Identifier: Apache-2.0
"""Names of topics."""

from __future__ import annotations

import re


def plain(topic: str) -> str:
    """A topic as the description names it; ROS puts a slash before it."""
    return topic.removeprefix("/")


def topic_name(topic: str) -> str:
    """A topic as an app.yaml allows it, without the slash that ROS puts before it."""
    text = re.sub(r"[^A-Za-z0-9_/]", "_", plain(topic))
    return text if text[:1].isalpha() or text[:1] in {"_", "/"} else f"_{text}"
