# SPDX-License-Identifier: Apache-2.0
"""What CI does for minutes, for hours: in pieces of ten minutes, each with a seed of its own.

``python -m setup.endurance thread --hours 8`` builds what it needs and runs it. A line of
.takt/endurance.jsonl tells of each piece; the same command goes on until those of this commit are
so many hours. The first failure ends it, with what it printed: its seed is in the command.

thread, address: random lives of tasks and, if the last build found rclcpp, of nodes, under
ThreadSanitizer, or AddressSanitizer with UBSan. kills: commands of the tool killed at random
moments. readers: broken files of every format. parsers: libFuzzer.
"""

from __future__ import annotations

import argparse
import contextlib
import secrets
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from time import monotonic
from typing import Any

from setup import fuzz, lines, sanitized
from setup.distributions import ROOT, STATE

LOG = STATE / "endurance.jsonl"
PIECE_S = 600
READ = 10  # times as many files as in CI, in a piece
# A command where the tool and what it was built with are found.
IN_TOOL = '. "$0" && export PYTHONPATH="$1:$PYTHONPATH" && shift && exec env "$@"'
Command = list[str]


def tested(file: str, rounds: int, seed: int) -> sanitized.Part:
    """A file of pytest's, with more rounds and another seed than in CI."""
    settings = [f"TAKT_TEST_ROUNDS={rounds}", f"TAKT_TEST_SEED={seed}"]
    package = ROOT / "src" / "takt"
    pytest = [str(sanitized.BIN / "python"), "-m", "pytest", "-q", "--timeout=0"]
    pytest.append(str(package / "test" / file))
    words = ["bash", "-c", IN_TOOL, str(STATE / "setup.sh"), str(package), *settings, *pytest]
    return sanitized.Part([], [words])


def parsed(seconds: int, seed: int) -> sanitized.Part:
    """Each parser for so many seconds; raises SystemExit without Clang."""
    if not (built := fuzz.builds()):
        raise SystemExit(f"install one of {', '.join(fuzz.COMPILERS)}, which has libFuzzer")
    return sanitized.Part(built, fuzz.runs([f"-max_total_time={seconds}"], seed))


# By name: what is run in so many seconds, and with which seed.
SUBJECTS: dict[str, Callable[[int, int], sanitized.Part]] = {
    "thread": lambda seconds, seed: sanitized.lives("thread", seconds, seed),
    "address": lambda seconds, seed: sanitized.lives("address;undefined", seconds, seed),
    "kills": lambda _, seed: tested("test_kills.py", 1, seed),
    "readers": lambda _, seed: tested("test_fuzz_readers.py", READ, seed),
    "parsers": lambda seconds, seed: parsed(seconds // len(fuzz.INPUTS), seed),
}


def main() -> int:
    """The exit code of the first command that failed; 0: none did."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("subject", choices=SUBJECTS)
    parser.add_argument("--hours", type=float, default=1.0, help="in all (%(default)s)")
    given = parser.parse_args()
    subject, wanted = given.subject, given.hours * 3600
    commit = _commit()
    with contextlib.suppress(KeyboardInterrupt):
        for command in SUBJECTS[subject](PIECE_S, 1).build:
            if code := _run(command):
                return code
        while (done := sum(one["seconds"] for one in pieces(subject, commit))) < wanted:
            seed = secrets.randbelow(10**9)
            seconds = min(PIECE_S, int(wanted - done) + 1)
            if code := piece(subject, commit, SUBJECTS[subject](seconds, seed).tests, seed):
                return code
    print(summary(subject, commit))
    return 0


def piece(subject: str, commit: str, commands: list[Command], seed: int) -> int:
    """Runs and logs one; the first exit code that is not 0."""
    begun, since = datetime.now(timezone.utc).isoformat(timespec="seconds"), monotonic()
    code = next((code for command in commands if (code := _run(command))), 0)
    line = {
        "subject": subject,
        "commit": commit,
        "begun": begun,
        "seconds": round(monotonic() - since, 1),
        "seed": seed,
        "code": code,
    }
    lines.append(LOG, line)
    print(summary(subject, commit), flush=True)
    return code


def pieces(subject: str, commit: str) -> list[dict[str, Any]]:
    """What the log has of it."""
    found = lines.read(LOG)
    return [one for one in found if (one["subject"], one["commit"]) == (subject, commit)]


def summary(subject: str, commit: str) -> str:
    """All pieces of a subject in a line."""
    done = pieces(subject, commit)
    hours = sum(one["seconds"] for one in done) / 3600
    failed = [str(one["seed"]) for one in done if one["code"]]
    seeds = f" (seeds {', '.join(failed)})" if failed else ""
    return (
        f"{subject} of {commit}: {hours:.2f} h in {len(done)} pieces, {len(failed)} failed{seeds}"
    )


def _run(command: Command) -> int:
    print("$", *command, flush=True)
    return subprocess.run(command, cwd=ROOT).returncode


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
