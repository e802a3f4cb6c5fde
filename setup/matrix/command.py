# SPDX-License-Identifier: Apache-2.0
"""``./takt test --matrix [NAME…]``: tries the systems of the matrix, one after the other.

With ``--list`` it only tells them. The results go to ``.takt/matrix/results.json`` and into
``docs/reference/systems.md``, after each system, so that an interrupted run keeps what it has.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from setup.distributions import ROOT, STATE
from setup.matrix import (
    by_chroot,
    by_compiler,
    by_emulator,
    by_installation,
    by_python,
    by_release,
    by_wheels,
    page,
)
from setup.matrix.entries import FILE, Entry, MatrixError, read
from setup.matrix.trial import Failed, LeftOut, Outcome, Trial
from setup.unpacked import UnpackError

FOLDER = STATE / "matrix"
WAYS: dict[str, Callable[[Any, Trial], Outcome]] = {
    "chroot": by_chroot.tried,
    "compiler": by_compiler.tried,
    "emulator": by_emulator.tried,
    "installation": by_installation.tried,
    "python": by_python.tried,
    "release": by_release.tried,
    "wheels": by_wheels.tried,
}


def main(
    arguments: Sequence[str], file: Path = FILE, folder: Path = FOLDER, record: Path = page.PAGE
) -> int:
    """0 where none failed, 1 where one did, 2 for a name that is not there."""
    try:
        entries = read(file)
        names = [one for one in arguments if one != "--list"]
        chosen = choose(entries, names)
    except MatrixError as error:
        print(f"takt test: {error}", file=sys.stderr)
        return 2
    if "--list" in arguments:
        print("\n".join(map(listed, chosen)))
        return 0
    done: dict[str, tuple[Outcome, page.Moment]] = {}
    for number, entry in enumerate(chosen, start=1):
        print(f"\n=== {entry.name} ({number} of {len(chosen)}): {entry.system}", flush=True)
        started, tried = time.monotonic(), commit(record)
        outcome = attempt(entry, folder)
        seconds = time.monotonic() - started
        reason = f": {outcome.detail}" if outcome.result != "passed" else f" in {seconds:.0f} s"
        print(f"=== {entry.name}: {outcome.result}{reason}", flush=True)
        if entry.how:
            today = datetime.now(timezone.utc).date().isoformat()
            done[entry.name] = (outcome, page.Moment(today, tried, round(seconds, 1)))
            write(done, folder / "results.json")
        page.write(entries, done, record)
    print(f"\nThe record: {record}")
    failed = [name for name, (outcome, _) in done.items() if outcome.result == "failed"]
    print(f"failed: {', '.join(failed)}" if failed else "none failed")
    return 1 if failed else 0


def choose(entries: Sequence[Entry], names: Sequence[str]) -> list[Entry]:
    """The named ones, all without a name; raises MatrixError for one that is not there."""
    known = {one.name: one for one in entries}
    for name in names:
        if name not in known:
            raise MatrixError(f"no system {name!r} in the matrix; there are: {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)] or list(entries)


def listed(entry: Entry) -> str:
    """A system, and how it is tried or why not."""
    how = (type(entry.how).__doc__ or "") if entry.how else f"Not tried: {entry.not_tried}"
    return f"{entry.name:<14} {entry.system}. {how}"


def attempt(entry: Entry, folder: Path) -> Outcome:
    """One trial; whatever goes wrong in it is its result."""
    if entry.how is None:
        return Outcome("left out", entry.not_tried or "")
    try:
        return WAYS[entry.how.kind](entry.how, Trial(folder / entry.name))
    except LeftOut as reason:
        return Outcome("left out", str(reason))
    except (Failed, UnpackError) as error:
        return Outcome("failed", str(error))
    except OSError as error:
        return Outcome("failed", f"{type(error).__name__}: {error}")


def commit(record: Path) -> str:
    """What was tried; the record itself is no part of that."""
    changed = git("status", "--porcelain", "--", ".", f":(exclude){record}")
    head = git("rev-parse", "--short=8", "HEAD") or "no commit"
    return f"{head} with changes" if changed else head


def git(*words: str) -> str:
    """What git says; nothing where there is none, or no repository."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip()


def write(done: dict[str, tuple[Outcome, page.Moment]], file: Path) -> None:
    """The results for scripts; those of earlier runs stay."""
    try:
        known = json.loads(file.read_text(encoding="utf-8"))["systems"]
    except (OSError, ValueError, KeyError, TypeError):
        known = {}
    known |= {name: asdict(one) | asdict(when) for name, (one, when) in done.items()}
    file.parent.mkdir(parents=True, exist_ok=True)
    document = {"schema_version": 1, "systems": known}
    file.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
