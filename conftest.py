# SPDX-License-Identifier: Apache-2.0
"""What the tests of all packages need."""

import math
import signal

import pytest

# A shell that starts this in the background ignores Ctrl-C for it, and so would whatever the tests
# start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files first that ask for the most patience: begun last, they are waited for alone."""
    patience: dict[str, float] = {}
    for item in items:
        mark = item.get_closest_marker("timeout")
        file = item.nodeid.partition("::")[0]
        limit = (mark.args[0] or math.inf) if mark else 0.0
        patience[file] = max(patience.get(file, 0), limit)
    items.sort(key=lambda item: -patience[item.nodeid.partition("::")[0]])
