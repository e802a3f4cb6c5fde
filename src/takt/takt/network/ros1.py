# SPDX-License-Identifier: Apache-2.0
"""ROS 1's surroundings: a rosmaster on a free port of the loopback, for as long as a run lasts.

Debian's rosmaster binds only the loopback where ROS_IP is a loopback address. The run's own folder
is its ROS_HOME, so nothing is written to the user's.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from takt.errors import Failure
from takt.processes.process import Process

STACK = "ros1"
START_LIMIT_S = 60.0  # on a busy machine at nice 19 it takes half a minute
END_LIMIT_S = 3.0
REMEDY = "install it: ./takt setup ros1"


@contextlib.contextmanager
def master(folder: Path) -> Iterator[dict[str, str]]:
    """Starts a master; yields what its nodes need in their environment.

    Raises Failure where none is installed, or where it does not listen in time.
    """
    program = shutil.which("rosmaster")
    if program is None:
        raise Failure("ROS 1's rosmaster is not installed", fix=REMEDY)
    port = _free_port()
    environment = {
        "ROS_MASTER_URI": f"http://127.0.0.1:{port}",
        "ROS_IP": "127.0.0.1",
        "ROS_HOME": str(folder / "ros_home"),
    }
    log = folder / "rosmaster.log"
    # Debian's runs on the system's Python, whose modules a PYTHONPATH of ours would hide.
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with log.open("wb") as output:
        process = Process(
            [program, "--core", "-p", str(port)],
            environment=inherited | environment,
            stdout=output,
            stderr=output,
        )
    try:
        _await(process, port, log)
        yield environment
    finally:
        process.end(END_LIMIT_S)


def _await(process: Process, port: int, log: Path) -> None:
    limit = time.monotonic() + START_LIMIT_S
    while time.monotonic() < limit:
        if process.poll() is not None:
            break
        with socket.socket() as caller:
            if caller.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    words = log.read_bytes()[-500:].decode(errors="replace").strip()
    raise Failure(
        f"rosmaster does not listen after {START_LIMIT_S:g} s"
        if process.poll() is None
        else f"rosmaster ended with exit code {process.poll()}",
        where=words or None,
        fix="start it by hand to see the reason: ROS_IP=127.0.0.1 rosmaster --core",
    )


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
