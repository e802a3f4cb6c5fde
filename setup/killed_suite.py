# SPDX-License-Identifier: Apache-2.0
"""Kills a long measurement again and again, continues it, and says what was lost: for a night.

``python -m setup.killed_suite --out results/night --every 7200 reproduce ye2023 --scale 0.5``

A kill is SIGKILL to the tool alone, after the first of the measurements since its start has ended
and so many seconds more. What had ended then must be there afterwards, byte for byte, and
what was being recorded as an earlier attempt.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq

from takt.processes import recording, scratch, usage

LOOK_S = 0.02
ENDED = ("samples/*.parquet", "*-run*.json")  # of a run, and of executions


@dataclass
class Kept:
    """What was there at the kills."""

    ended: Counter[str] = field(default_factory=Counter)  # files, by what they hold
    begun: list[tuple[str, int]] = field(default_factory=list)  # recordings, and their samples


def main() -> int:
    """1 if something was lost, or the last of the runs did not end well."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="results folder, a new one")
    parser.add_argument("--kills", type=int, default=3, help="so many times (%(default)s)")
    parser.add_argument("--every", type=float, default=7200.0, help="seconds (%(default)s)")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="of takt, without --out")
    given = parser.parse_args()
    first = [*given.command, "--out", str(given.out)]
    again = ["run", "--resume", str(given.out)] if given.command[0] == "run" else first
    return killed(first, again, given.out, [given.every] * given.kills)


def killed(first: Sequence[str], again: Sequence[str], out: Path, after: Sequence[float]) -> int:
    """Runs ``first``, then ``again``, each but the last killed after so many seconds."""
    kept = Kept()
    words = first
    for number, seconds in enumerate(after, 1):
        tool = _started(words)
        there = len(_ended(out))
        while tool.poll() is None and len(_ended(out)) == there:
            time.sleep(LOOK_S)
        until = time.monotonic() + seconds
        while tool.poll() is None and time.monotonic() < until:
            time.sleep(LOOK_S)
        if tool.poll() is not None:
            print(f"ended with exit code {tool.returncode} before kill {number}")
            print(f"lost: {', '.join(_lost(kept, out)) or 'nothing'}")
            return 1
        _kill(tool)
        now, begun = Counter(map(_digest, _ended(out))), _begun(out)
        kept.ended |= now
        kept.begun += begun
        recorded = sum(count for _, count in begun)
        ended = f"{now.total()} files of what had ended"
        print(f"kill {number}: {ended}, {recorded} samples were being recorded", flush=True)
        words = again
    code = _started(words).wait()
    lost = _lost(kept, out)
    print(f"exit code {code}, {len(_ended(out))} files; lost: {', '.join(lost) or 'nothing'}")
    return 1 if code or lost else 0


def _started(words: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "takt", *words], stdin=subprocess.DEVNULL)


def _kill(tool: subprocess.Popen[bytes]) -> None:
    """Kills the tool, and waits until all that it had started has ended by itself."""
    family = usage.family([tool.pid])[1:]
    tool.kill()
    tool.wait()
    while any(Path(f"/proc/{pid}").exists() for pid in family):
        time.sleep(LOOK_S)


def _ended(out: Path) -> list[Path]:
    return [path for pattern in ENDED for path in out.glob(pattern)]


def _begun(out: Path) -> list[tuple[str, int]]:
    """The recordings of a killed run in memory, with as many samples as each has."""
    lock = out / scratch.LOCK
    place = scratch.named_in(lock.read_text(encoding="utf-8"), out) if lock.exists() else None
    files = place.glob(f"*{recording.SUFFIX}") if place else []
    # What has no samples yet is no attempt.
    return [(one.stem, count) for one in files if (count := recording.progress(one))]


def _lost(kept: Kept, out: Path) -> list[str]:
    missing = kept.ended - Counter(map(_digest, _ended(out)))
    lost = [f"{missing.total()} files"] if missing else []
    for name, count in kept.begun:
        rows = [
            pq.read_metadata(path).num_rows
            for path in out.glob("samples/*.parquet")
            if path.name.startswith(f"{name}.")
        ]
        if count not in rows:
            lost.append(f"{count} samples of {name}")
    return lost


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
