# SPDX-License-Identifier: Apache-2.0
"""What the tests of all packages need."""

import math
import signal
from collections.abc import Callable, Iterator

import one_core
import pytest
from hypothesis import HealthCheck, settings

# A shell that starts this in the background ignores Ctrl-C for it, and so would whatever the tests
# start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# On a machine that others share, slow says nothing about a test.
settings.register_profile("patient", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.load_profile("patient")


@pytest.fixture(autouse=True)
def cores(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """A test with the fixture ``spinner`` holds a core: it runs by itself."""
    folder = tmp_path_factory.getbasetemp().parent  # that of all workers
    spins = "spinner" in request.fixturenames
    with (one_core.exclusive if spins else one_core.shared)(folder):
        yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what only its own marker asks for; the order of the rest."""
    for mark in ("installation", "release"):
        if mark not in config.option.markexpr:
            left = [item for item in items if item.get_closest_marker(mark)]
            items[:] = [item for item in items if item not in left]
            config.hook.pytest_deselected(items=left)
    items.sort(key=order(items))


def order(items: list[pytest.Item]) -> Callable[[pytest.Item], tuple[float, int]]:
    """The files first that ask for the most patience: begun last, they are waited for alone.

    The others from both ends: those of the probes, which come last, wait more than they compute,
    and beside each other would leave the machine idle.
    """
    patience: dict[str, float] = {}
    for item in items:
        mark = item.get_closest_marker("timeout")
        limit = (mark.args[0] or math.inf) if mark else 0.0
        patience[file_of(item)] = max(patience.get(file_of(item), 0), limit)
    from_an_end = {file: min(at, len(patience) - at) for at, file in enumerate(patience)}
    return lambda item: (-patience[file_of(item)], from_an_end[file_of(item)])


def file_of(item: pytest.Item) -> str:
    """Where it is written."""
    return item.nodeid.partition("::")[0]
