# SPDX-License-Identifier: Apache-2.0
"""A master of ROS 1 on a free port of the loopback interface, which ends with its test."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

# Debian's; its Python is the system's, whatever environment is active.
PROGRAM = shutil.which("rosmaster")
LIMIT_S = 150.0


class Ros1Master:
    """A running rosmaster; ``environment`` is what its nodes need."""

    def __init__(self, place: Path) -> None:
        if PROGRAM is None:
            pytest.skip("rosmaster is not installed (on Debian: python3-rosmaster)")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.environment = {
            "ROS_MASTER_URI": f"http://127.0.0.1:{port}",
            "ROS_IP": "127.0.0.1",
            "ROS_HOME": str(place),
        }
        without = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        self.process = subprocess.Popen(
            [PROGRAM, "--core", "-p", str(port)],
            env={**without, **self.environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        limit = time.monotonic() + LIMIT_S
        while time.monotonic() < limit:
            with socket.socket() as caller:
                if caller.connect_ex(("127.0.0.1", port)) == 0:
                    return
            assert self.process.poll() is None, "rosmaster ended at once"
            time.sleep(0.01)
        self.end()
        pytest.fail("rosmaster does not listen")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
