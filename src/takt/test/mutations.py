# SPDX-License-Identifier: Apache-2.0
"""Valid files made invalid: bytes changed, left out, repeated, and pieces that broke a reader once.

By hand, for as long as wanted: ``python src/takt/test/mutations.py INPUTS SEED [READER…]`` says how
many inputs each reader survived, the slowest one and how far memory grew.
"""

from __future__ import annotations

import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from read_files import READERS, Reader, valid_files

PIECES = (
    b"&a [*a]", b"*a", b"<<: *a", b"[" * 200, b"{" * 200, b"9" * 5000, b"1e999", b"NaN", b"-1",
    b"Infinity", b"\x00", b"\xff\xfe", b"/dev/zero", b"../../..", b"!!python/object:os.system",
    b"? {a: b}\n: c", b"2001-99-99", b"\n", b": ", b"\"", b"null", b"\xf0\x9f\xa4\x96",
    b"%YAML 9.9",
)  # fmt: skip
HANG_S = 120  # on a busy machine
MOST_BYTES = 1 << 30
Mutation = tuple[float, int, bytes]


def mutated(content: bytes, mutations: list[Mutation]) -> bytes:
    """At a share of the file: so many bytes go (or are there twice), others come."""
    for share, cut, piece in mutations:
        at = int(share * len(content))
        content = content[:at] + piece + content[at + cut :]
    return content


def drawn(chance: random.Random) -> list[Mutation]:
    """One to four of them; often of few bytes, so that most of the file stays valid."""
    return [
        (
            chance.random(),
            chance.choice((0, 1, 1, 2, chance.randint(-40, 40))),
            chance.choice((b"", chance.choice(PIECES), chance.randbytes(chance.randint(1, 4)))),
        )
        for _ in range(chance.randint(1, 4))
    ]


class Hang(Exception):
    """A reader took longer than anybody waits."""


def break_reader(
    reader: Reader, content: bytes, inputs: int, seed: int, folder: Path
) -> tuple[float, int]:
    """Reads so many mutations; the slowest in seconds, and how far this process's memory grew.

    What breaks the reader stays in the folder.
    """
    file = folder / reader.name
    slowest = 0.0
    # The highest memory from here on: what tests before this one have used is no reader's.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    had = _highest_bytes()
    before = signal.signal(signal.SIGALRM, _hang)
    try:
        for number in range(inputs):
            chance = random.Random(f"{reader.name}{seed}{number}")
            file.write_bytes(mutated(content, drawn(chance)))
            started = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, HANG_S)
            reader.survives(file)
            signal.setitimer(signal.ITIMER_REAL, 0)
            slowest = max(slowest, time.monotonic() - started)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    memory = _highest_bytes() - had
    assert memory < MOST_BYTES
    file.unlink(missing_ok=True)
    return slowest, memory


def _highest_bytes() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


def _hang(_number: int, _frame: FrameType | None) -> None:
    raise Hang


def main(inputs: int, seed: int, names: list[str]) -> Iterator[str]:
    """What each of the readers survived."""
    with valid_files() as valid:
        for reader in READERS:
            if names and reader.name not in names:
                continue
            folder = Path(tempfile.mkdtemp(prefix="mutated-"))
            started = time.monotonic()
            slowest, memory = break_reader(reader, valid[reader.name], inputs, seed, folder)
            folder.rmdir() if not any(folder.iterdir()) else None
            yield (
                f"{reader.name}: {inputs} inputs in {time.monotonic() - started:.0f} s, "
                f"the slowest {slowest:.2f} s, memory {memory >> 20} MiB more"
            )


if __name__ == "__main__":
    for line in main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]):
        print(line, flush=True)
