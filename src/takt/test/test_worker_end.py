# SPDX-License-Identifier: Apache-2.0
"""A worker that is told to end ends, also where Dask would wait for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

# As Dask's worker: it listens to a signal, then cancels everything and waits.
STUBBORN = """
import asyncio, signal
from takt.network import worker_end
worker_end.GRACE_S = 0.2

async def deaf():
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass

async def run():
    signalled = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(signalled.set))
    worker_end.dask_setup(None)
    task = asyncio.create_task(deaf())
    await asyncio.sleep(0)
    print("ready", flush=True)
    await signalled.wait()

asyncio.run(run())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_worker_that_waits_for_what_never_ends_ends(number: signal.Signals) -> None:
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE, env=environment
    ) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == b"ready\n"
            process.send_signal(number)
            assert process.wait(300) == 0
        finally:
            process.kill()
