# SPDX-License-Identifier: Apache-2.0
"""Real Fast DDS: no process asks the others for the types of their messages."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from takt.network import transport

LISTENER = Path(os.environ.get("TAKT_PREFIX", ""), "lib", "takt_rcl", "listener")
PATIENCE_S = 150


@contextmanager
def listening(environment: dict[str, str]) -> Iterator[Path]:
    with subprocess.Popen([str(LISTENER)], env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            yield Path("/proc", str(process.pid), "task")
        finally:
            process.terminate()


def threads(folder: Path) -> set[str]:
    """Of the process, once those of Fast DDS begin to be there."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        names = {file.read_text().strip() for file in folder.glob("*/comm")}
        if any(name.startswith("dds.asyn") for name in names):
            return names
        time.sleep(0.05)
    raise TimeoutError(f"no thread of Fast DDS: {names}")


@pytest.mark.skipif(not LISTENER.exists(), reason="takt_rcl is not installed")
@pytest.mark.parametrize("asks", [True, False])
def test_a_profile_of_takt_ends_what_crashes_a_process_at_its_end(
    tmp_path: Path, ros_domain: None, asks: bool
) -> None:
    profile = transport.profile("process", 0)
    if asks:
        profile = profile.replace("<value>disabled</value>", "<value>enabled</value>")
    file = tmp_path / "profile.xml"
    file.write_text(profile, encoding="utf-8")
    environment = transport.environment(
        transport.fast_dds(file), int(os.environ["ROS_DOMAIN_ID"]), logs=tmp_path
    )
    if transport.is_fast_dds_2(environment):
        pytest.skip("Fast DDS 2 does not ask")
    with listening(environment) as folder:
        deadline = time.monotonic() + (PATIENCE_S if asks else 1)
        found = threads(folder)
        while time.monotonic() < deadline and not any("dds.tls" in one for one in found):
            time.sleep(0.05)
            found = threads(folder)
        assert any("dds.tls" in one for one in found) == asks, found
