# SPDX-License-Identifier: Apache-2.0
"""Round trips between two processes: of a probe, and of whatever else answers itself."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from takt.bench.programs import no_real_time
from takt.documents.reading import read_json
from takt.errors import Failure
from takt.measure.run import samples
from takt.processes import process, recording

PAYLOAD = 500
PRIORITY = 80
PERIOD_US = 1000
SECONDS = 4
LIMIT_S = 60.0


def round_trip(
    probe: Path, cpu: int, around: Mapping[str, str], folder: Path, **more: str
) -> dict[str, float]:
    """Round trips between two processes of a probe at SCHED_FIFO; raises Failure without them."""
    recorded = folder / f"ping{recording.SUFFIX}"
    recorded.unlink(missing_ok=True)
    options = {
        "transport": "udp",
        "payload-bytes": PAYLOAD,
        "period-ns": PERIOD_US * 1000,
        "count": SECONDS * 1_000_000 // PERIOD_US,
        "policy": "fifo",
        "priority": PRIORITY,
        "cpu": cpu,
        "time-limit-ns": round(LIMIT_S * 1e9),
        **more,
    }
    words = [str(word) for key, value in options.items() for word in (f"--{key}", value)]
    files = {role: folder / f"{role}.json" for role in ("pong", "ping")}

    def command(role: str) -> list[str | Path]:
        return [probe, "pingpong", "--role", role, "--result", files[role], *words]

    pair(command("pong"), [*command("ping"), "--samples", recorded], around)
    policy = read_json(files["ping"])["granted"]["policy"]
    if policy != "fifo":
        raise no_real_time(f"the probe was granted {policy}")
    records = samples.read(recorded).records[1:]
    taken = records[records["received_ns"] > 0]
    if not len(taken):
        raise Failure(f"{probe.name} got no reply")
    p50, p99 = np.percentile(taken["received_ns"] - taken["sent_ns"], [50, 99]) / 1000
    return {"p50_us": float(p50), "p99_us": float(p99)}


def pair(passive: list[str | Path], active: list[str | Path], around: Mapping[str, str]) -> str:
    """Runs both until the active one has ended; what it printed."""
    environment = {**os.environ, **around}
    other = process.Process(passive, environment=environment)
    try:
        done = process.output(active, LIMIT_S, environment=environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failure(f"{Path(active[0]).name} failed: {error}") from None
    finally:
        other.end()
    if done.returncode:
        words = (done.stderr or done.stdout).strip()[-500:]
        raise Failure(f"{Path(active[0]).name}: {process.how_ended(done.returncode)}: {words}")
    return done.stdout
