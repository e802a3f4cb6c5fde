# SPDX-License-Identifier: Apache-2.0
"""Starts installed probes and reads what they leave behind, by the contract alone."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import struct
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ros1_master import Ros1Master

from takt.network import addresses, transport

PATIENCE_S = 150.0  # for what has to come about at all, on a busy machine
# Where every message has to arrive: a message of a busy machine may take a while.
PATIENT = ("--lost-after-ns", 60 * 10**9)
# Nor may one of them be displaced while the machine keeps its reader waiting: by the others, or by
# closing messages, one every 20 ms.
ROOM = ("--depth", 3000)
RECORD = np.dtype([("sequence", "<u8"), ("intended", "<i8"), ("sent", "<i8"), ("received", "<i8")])
NOBODY = 65534
LOOPBACK = (
    '<General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>'
    "<AllowMulticast>false</AllowMulticast></General>"
    '<Discovery><ParticipantIndex>auto</ParticipantIndex><Peers><Peer address="127.0.0.1"/></Peers>'
    "</Discovery>"
)


@dataclass
class Samples:
    """A sample file, read by the offsets of the contract."""

    capacity: int
    count: int
    dropped: int
    records: np.ndarray

    @classmethod
    def read(cls, path: Path) -> Samples:
        content = path.read_bytes()
        magic, header, record = struct.unpack_from("<8sII", content, 0)
        assert (magic, header, record) == (b"TAKTSMP1", 4096, 32)
        capacity, count, dropped = struct.unpack_from("<QQQ", content, 16)
        assert len(content) == 4096 + 32 * capacity
        return cls(capacity, count, dropped, np.frombuffer(content, RECORD, count, 4096))


@dataclass
class Running:
    """One started probe."""

    process: subprocess.Popen[str]
    result: Path
    samples: Path | None

    def end(self, timeout: float = PATIENCE_S) -> int:
        """Waits for its end; returns the exit code."""
        self.stderr = self.process.communicate(timeout=timeout)[1]
        return self.process.returncode

    def document(self) -> dict[str, Any]:
        document = json.loads(self.result.read_text())
        assert isinstance(document, dict)
        return document

    def recorded(self) -> Samples:
        assert self.samples is not None
        return Samples.read(self.samples)

    def wait_for_records(self, least: int) -> None:
        """Until the file has so many records."""
        limit = time.monotonic() + PATIENCE_S
        while self.records() < least:
            assert self.process.poll() is None, self.process.communicate()[1]
            assert time.monotonic() < limit, f"no {least} records after a long while"
            time.sleep(0.005)

    def records(self) -> int:
        """How many the file has now."""
        if self.samples is None or not self.samples.exists():
            return 0
        with self.samples.open("rb") as file:
            head = file.read(32)
        return int(struct.unpack_from("<Q", head, 24)[0]) if len(head) == 32 else 0

    def slept(self) -> int:
        """How often its first thread, which has the loop of a role, has gone to sleep up to now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])


class Probes:
    """The installed probes; every process that a test leaves running is killed."""

    def __init__(self, folder: Path, place: Path, domain: int) -> None:
        self.folder = folder
        self.place = place
        self.started: list[Running] = []
        self._still = contextlib.ExitStack()
        self.master: Ros1Master | None = None
        self.services = tempfile.mkdtemp(prefix="takt")  # short: it is in names of sockets
        self.environment = {
            **os.environ,
            "ROS_DOMAIN_ID": str(domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "ROS_LOG_DIR": str(place / "log"),
            "CYCLONEDDS_URI": LOOPBACK,
            "TAKT_ICEORYX2_ROOT": self.services,
        }

    def use_fast_dds_profile(self, text: str) -> None:
        """Gives Fast DDS its transports."""
        profile = self.place / "fastdds.xml"
        profile.write_text(text)
        self.environment |= transport.fast_dds(profile)
        self.environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SYSTEM_DEFAULT"  # the profile's

    def give_place_to(self, user: int) -> None:
        """Every folder on the way, too: another run of the tests may have closed one meanwhile."""
        os.chown(self.place, user, user)
        for parent in self.place.parents:
            if parent == Path(tempfile.gettempdir()):
                break
            parent.chmod(0o755)

    def __contains__(self, stack: str) -> bool:
        return (self.folder / f"probe_{stack}").exists()

    def command(self, stack: str, *arguments: object) -> list[str]:
        probe = self.folder / f"probe_{stack}"
        if not probe.exists():
            pytest.skip(f"{probe.name} was not built here")
        return [str(probe), *map(str, arguments)]

    def ask(self, stack: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        """For command lines that measure nothing."""
        command = self.command(stack, *arguments)
        return subprocess.run(command, capture_output=True, text=True, timeout=150)

    def start(
        self, stack: str, kind: str, *arguments: object, record: bool = True, **popen: Any
    ) -> Running:
        if stack == "ros1" and stack in self:
            self.start_master()
        if "shm" in arguments and not self.started:  # until the test ends, as a run until they met
            self._still.enter_context(addresses.kept())
        number = len(self.started)
        result = self.place / f"{number}.json"
        command = self.command(stack, kind, "--result", result, *arguments)
        samples = self.place / f"{number}.taktsamples" if record else None
        if samples is not None:
            command += ["--samples", str(samples)]
        process = subprocess.Popen(
            command, env=self.environment, stderr=subprocess.PIPE, text=True, **popen
        )
        self.started.append(Running(process, result, samples))
        return self.started[-1]

    def start_master(self) -> None:
        """The master of ROS 1, once; probes of ros1 start it if need be."""
        if self.master is None:
            self.master = Ros1Master(self.place)
            self.environment |= self.master.environment

    def end_all(self) -> None:
        for one in self.started:
            one.process.kill()
            one.process.communicate()
        self._still.close()
        if self.master is not None:
            self.master.end()
        shutil.rmtree(self.services, ignore_errors=True)


def folder_of_probes() -> Path:
    """Where the probes are installed."""
    prefixes = [os.environ.get("TAKT_PREFIX", "")]
    prefixes += os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    for prefix in filter(None, prefixes):
        folder = Path(prefix) / "lib" / "takt_probes"
        if (folder / "probe_raw").exists():
            return folder
    pytest.fail("no probe_raw below TAKT_PREFIX or AMENT_PREFIX_PATH; build the workspace first")
