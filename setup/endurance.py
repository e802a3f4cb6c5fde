# SPDX-License-Identifier: Apache-2.0
"""Random lives of tasks, nodes and executors under a sanitizer, for hours.

``python -m setup.endurance thread --seconds 3600``, or ``address`` (with UBSan). What the last
build found is run: the core's life fuzz and, where rclcpp is, that of takt_rclcpp, half the time
each. A report of the sanitizer ends it with its exit code, and names the seed with which it comes
again.
"""

from __future__ import annotations

import argparse
import secrets
import subprocess
import sys

from setup import sanitized

SANITIZERS = {"thread": "thread", "address": "address;undefined"}


def main() -> int:
    """Build, run; the first exit code that is not 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sanitizer", choices=SANITIZERS)
    parser.add_argument("--seconds", type=int, default=3600, help="in all (%(default)s)")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**9), help="of the first")
    given = parser.parse_args()
    lives = sanitized.lives(SANITIZERS[given.sanitizer], given.seconds, given.seed)
    for command in (*lives.build, *lives.tests):
        print("$", *command, flush=True)
        code = subprocess.run(command).returncode
        if code != 0:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
