# SPDX-License-Identifier: Apache-2.0
"""Every run of many tiny sets of each kind against their bounds: the exhaustive oracle, for hours.

``python -m setup.every_run --sets 200000`` after ``./takt test`` has built the tests.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import Counter

from setup.distributions import STATE

TESTS = STATE / "build" / "takt_core" / "test"
PROGRAMS = ("analysis", "locks", "segments")
FILTER = "*Every*Run*:*EverySupply*:*EveryWideSupply*:*.no_run_of*:*of_no_run_of*:*delay_no_run_of*"
APART = 100_000  # seeds of two passes
BEGINS = re.compile(r"\[ RUN +\] (?:Policies/)?(\w+)\.")
SETS = re.compile(r"(\d+) of (\d+) sets complete")
FAILS = re.compile(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)")


def main() -> int:
    """Passes over all kinds until there are so many sets, or Ctrl-C; 1 if a test failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200_000, help="at least so many (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first pass (%(default)s)")
    parser.add_argument("--rounds", default="4", help="TAKT_TEST_ROUNDS of a pass (%(default)s)")
    given = parser.parse_args()
    looked_at: Counter[str] = Counter()
    complete: Counter[str] = Counter()
    failed: list[str] = []
    number = 0
    try:
        while looked_at.total() < given.sets and not failed:
            seed = given.seed + number * APART
            for program in PROGRAMS:
                failed += _pass(program, seed, given.rounds, looked_at, complete)
            number += 1
            print(f"pass {number}, seed {seed}: {looked_at.total()} sets", flush=True)
            if not looked_at:
                failed.append("no test has looked at any set")
    except KeyboardInterrupt:
        print("interrupted")
    for kind, count in sorted(looked_at.items()):
        print(f"{kind}: {complete[kind]} of {count} sets complete")
    print(f"all: {complete.total()} of {looked_at.total()} sets complete")
    for name in failed:
        print(f"failed: {name}")
    return 1 if failed else 0


def _pass(
    program: str, seed: int, rounds: str, looked_at: Counter[str], complete: Counter[str]
) -> list[str]:
    """What failed; the sets are counted by the test suite that looked at them."""
    path = TESTS / f"takt_core_{program}_test"
    settings = {"TAKT_TEST_SEED": str(seed), "TAKT_TEST_ROUNDS": rounds}
    kind = program
    failed: list[str] = []
    lines: list[str] = []
    with subprocess.Popen(
        [str(path), f"--gtest_filter={FILTER}"],
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        for line in running.stdout or ():
            lines.append(line)
            if begun := BEGINS.search(line):
                kind = begun[1]
            if sets := SETS.search(line):
                complete[kind] += int(sets[1])
                looked_at[kind] += int(sets[2])
            if (fails := FAILS.search(line)) and fails[1] not in failed:
                failed.append(fails[1])
    if failed:
        print("".join(lines), file=sys.stderr)
    ended = running.returncode
    return failed or ([f"{path.name} ended with {ended}"] if ended else [])


if __name__ == "__main__":
    sys.exit(main())
