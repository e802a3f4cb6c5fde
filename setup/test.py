# SPDX-License-Identifier: Apache-2.0
"""The test suite: what every change needs, and with ``--all`` what takes longer, too.

Usage: ./takt test [--all] [STAGE…], for example ``./takt test style python``;
./takt test --matrix [--list] [NAME…]: other systems (matrix/command.py);
./takt test --abi [OLD [NEW]]: the binary interfaces of two commits (abi.py);
./takt test --coverage [PACKAGE…]: how many lines the tests execute (covered.py).
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
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TextIO

sys.path.append(str(Path(__file__).resolve().parents[1]))
from setup import abi, covered
from setup.matrix import command as matrix
from setup.stages import BIN, ROOT, STAGES, STATE

LAST = 60  # lines
# A stage beside another one takes only the time that the other one leaves.
LEFT_OVER = ("chrt", "--idle", "0")
SECONDS = STATE / "test_seconds.json"  # how long each stage took here last time


def main(arguments: list[str]) -> int:
    if {"--help", "-h"} & set(arguments):
        print(usage())
        return 0
    if "--matrix" in arguments:
        return matrix.main([one for one in arguments if one != "--matrix"])
    if "--abi" in arguments:
        return abi.main([one for one in arguments if one != "--abi"])
    if "--coverage" in arguments:
        return covered.main([one for one in arguments if one != "--coverage"])
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
    for done in outcomes(chosen):
        ends += [f"=== {done.name}: {end}" for end in done.ends]
        failed += [done.name] if done.ends else []
        known[done.name] = round(done.seconds, 1)  # every command ran, whether it failed or not
        SECONDS.write_text(json.dumps(known), encoding="utf-8")  # a later one may be interrupted
    if ends:
        print("\nThe last lines of what failed:", *ends, sep="\n")
    print(f"\nFailed stages: {', '.join(failed)}" if failed else "\nAll stages passed.")
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def usage() -> str:
    """The head of this file, and what each stage is."""
    stages = [f"  {name:<10}  {stage.what}" for name, stage in STAGES.items()]
    return "\n".join([(__doc__ or "").strip(), "", "Stages:", *stages])


class Done(NamedTuple):
    """A stage that ran: its time, that of the processors, and the last lines of what failed."""

    name: str
    seconds: float
    cpu: float
    ends: list[str]


def outcomes(chosen: list[str]) -> Iterator[Done]:
    """Runs the stages: one after the other, and beside them, one at a time, those that can wait."""
    left: dict[str, Future[Done]] = {}
    pool = ThreadPoolExecutor(max_workers=1)
    try:
        for name in chosen:
            if STAGES[name].beside in chosen:
                continue
            while any(STAGES[one].until == name for one in left):
                yield left.pop(next(iter(left))).result()
            beside = [one for one in chosen if STAGES[one].beside == name]
            left |= {one: pool.submit(meanwhile, one) for one in beside}
            yield perform(name, sys.stdout)
        yield from (one.result() for one in left.values())
    finally:
        pool.shutdown(cancel_futures=True)


def perform(name: str, out: TextIO, before: tuple[str, ...] = ()) -> Done:
    """Runs a stage, its output written as it comes; ``before``: words before each command."""
    started = time.monotonic()
    print(f"\n=== {name}: {STAGES[name].what}", file=out, flush=True)
    # Also after a failure.
    ran = [run([*before, *command], out) for command in STAGES[name].commands()]
    seconds, cpu = time.monotonic() - started, sum(one.cpu for one in ran)
    done = Done(name, seconds, cpu, [one.end for one in ran if one.end])
    how = "FAILED" if done.ends else "passed"
    print(f"=== {name}: {how} in {seconds:.0f} s, CPU {cpu:.0f} s", file=out, flush=True)
    return done


def meanwhile(name: str) -> Done:
    """Runs a stage while others show their output; its own is shown at its end."""
    out = io.StringIO()
    done = perform(name, out, LEFT_OVER)
    print(f"{out.getvalue()}\n", end="", flush=True)
    return done


def intention(chosen: list[str], known: dict[str, float]) -> str:
    """What will be done, how long it took here last time, and what is left for ``--all``."""
    by_themselves = [name for name in chosen if STAGES[name].beside not in chosen]
    total = sum(known[name] for name in by_themselves if name in known)
    new = [name for name in chosen if name not in known]
    last = f", last time {total / 60:.1f} min" if total else ""
    without = f" without {', '.join(new)}" if total and new else ""
    lines = [f"takt test: {len(chosen)} stages{last}{without}"]
    for name in chosen:
        seconds = f"{known[name]:.0f} s" if name in known else "?"
        beside = "" if name in by_themselves else f" Beside {STAGES[name].beside}."
        lines.append(f"  {name:<10} {seconds:>6}  {STAGES[name].what}{beside}")
    later = [name for name in STAGES if name not in chosen]
    return "\n".join([*lines, *([f"not now: {', '.join(later)}"] if later else [])])


def last_seconds() -> dict[str, float]:
    """By stage; empty where none is known."""
    try:
        known = json.loads(SECONDS.read_text(encoding="utf-8"))
        return {name: float(known[name]) for name in STAGES if name in known}
    except (OSError, ValueError, TypeError):
        return {}


class Ran(NamedTuple):
    """A command that ended: the time it took of the processors, and its last lines if it failed."""

    cpu: float
    end: str


def run(command: list[str], out: TextIO) -> Ran:
    """Runs it, its output written as it comes."""
    # The launcher put the built Python modules on PYTHONPATH; mypy has a variable of its own.
    environment = {
        **os.environ,
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "MYPYPATH": os.environ.get("PYTHONPATH", ""),
    }
    # Hundreds of processes import the same: what one has compiled none compiles again, also where
    # Python is to write nothing beside the sources.
    if environment.pop("PYTHONDONTWRITEBYTECODE", ""):
        environment["PYTHONPYCACHEPREFIX"] = str(STATE / "pycache")
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
                print(line, end="", file=out, flush=True)
                last.append(line[:400].rstrip())

    shown = threading.Thread(target=show, daemon=True)
    shown.start()
    _, status, usage = os.wait4(process.pid, 0)  # with all that it waited for itself
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime
    shown.join(timeout=5)  # what it may have left behind keeps the pipe open
    if not process.returncode:
        return Ran(cpu, "")
    failure = f"exit code {process.returncode}: {' '.join(command)[:300]}"
    print(f"--- {failure}", file=out, flush=True)
    return Ran(cpu, "\n".join([failure, *last]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
