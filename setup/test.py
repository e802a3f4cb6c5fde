# SPDX-License-Identifier: Apache-2.0
"""The test suite: what every change needs, and with ``--all`` what takes longer, too.

Usage: ./takt test [--all] [STAGE…], for example ``./takt test style python``.
Every stage runs even where an earlier one failed; the exit code is 1 if any of them did.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from setup.stages import BIN, ROOT, STAGES, STATE

LAST = 60  # lines
SECONDS = STATE / "test_seconds.json"  # how long each stage took here last time


def main(arguments: list[str]) -> int:
    names = [one for one in arguments if one != "--all"]
    unknown = [name for name in names if name not in STAGES]
    if unknown:
        problem = f"no stage {unknown[0]!r}; stages are {', '.join(STAGES)}, --all is all of them"
        print(f"takt test: {problem}", file=sys.stderr)
        return 2
    everything = "--all" in arguments
    chosen = names or [name for name, stage in STAGES.items() if stage.always or everything]
    known = last_seconds()
    print(intention(chosen, known), flush=True)
    failed = []
    ends: list[str] = []  # the last lines of what failed, to be read without looking for them
    for name in chosen:
        started = time.monotonic()
        print(f"\n=== {name}: {STAGES[name].what}", flush=True)
        told = [run(command) for command in STAGES[name].commands()]  # also after a failure
        passed = not any(told)
        ends += [f"=== {name}: {end}" for end in told if end]
        seconds = time.monotonic() - started
        print(f"=== {name}: {'passed' if passed else 'FAILED'} in {seconds:.0f} s", flush=True)
        if not passed:
            failed.append(name)
        known[name] = round(seconds, 1)  # every command ran to its end, whether it failed or not
        SECONDS.write_text(json.dumps(known), encoding="utf-8")  # a later one may be interrupted
    if ends:
        print("\nThe last lines of what failed:", *ends, sep="\n")
    print(f"\nFailed stages: {', '.join(failed)}" if failed else "\nAll stages passed.")
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def intention(chosen: list[str], known: dict[str, float]) -> str:
    """What will be done, how long it took here last time, and what is left for ``--all``."""
    total = sum(known[name] for name in chosen if name in known)
    new = [name for name in chosen if name not in known]
    last = f", last time {total / 60:.1f} min" if total else ""
    without = f" without {', '.join(new)}" if total and new else ""
    lines = [f"takt test: {len(chosen)} stages{last}{without}"]
    for name in chosen:
        seconds = f"{known[name]:.0f} s" if name in known else "?"
        lines.append(f"  {name:<10} {seconds:>6}  {STAGES[name].what}")
    later = [name for name in STAGES if name not in chosen]
    return "\n".join([*lines, *([f"not now: {', '.join(later)}"] if later else [])])


def last_seconds() -> dict[str, float]:
    """By stage; empty where none is known."""
    try:
        known = json.loads(SECONDS.read_text(encoding="utf-8"))
        return {name: float(known[name]) for name in STAGES if name in known}
    except (OSError, ValueError, TypeError):
        return {}


def run(command: list[str]) -> str:
    """Runs it, its output shown as it comes; returns the last of it if it failed."""
    # The launcher put the built Python modules on PYTHONPATH; mypy has a variable of its own.
    environment = {
        **os.environ,
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "MYPYPATH": os.environ.get("PYTHONPATH", ""),
    }
    if sys.stdout.isatty():
        environment |= {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"}
    last: deque[str] = deque(maxlen=LAST)
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )

    def show() -> None:
        with process.stdout or io.StringIO() as lines:
            for line in lines:
                print(line, end="", flush=True)
                last.append(line[:400].rstrip())

    shown = threading.Thread(target=show, daemon=True)
    shown.start()
    process.wait()
    shown.join(timeout=5)  # what it may have left behind keeps the pipe open
    if not process.returncode:
        return ""
    failure = f"exit code {process.returncode}: {' '.join(command)[:300]}"
    print(f"--- {failure}", flush=True)
    return "\n".join([failure, *last])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
