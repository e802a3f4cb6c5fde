# SPDX-License-Identifier: Apache-2.0
"""A probe after docs/reference/probes.md that measures nothing, for tests of the tool.

Its transports are the ways in which a probe can behave. Sample k of a recording is synthetic:
sent 1 us after its intended time and received 10 us + k ns later, so that a test knows what must
come out. Standard library only: it starts in a few ms.
"""

import argparse
import ctypes
import json
import mmap
import os
import signal
import struct
import sys
import time
from pathlib import Path

BEHAVIOURS = {
    "fine": "does what the contract says",
    "lossy": "every tenth sample is lost",
    "slow": "starts a second late",
    "held": "stops at sample 100 until the file of TAKT_FAKE_GO is there, then hurries to its end",
    "crash": "dies of SIGSEGV halfway",
    "hang": "stops recording halfway and ignores SIGTERM",
    "garbage": "writes a result and samples that are no such thing, and claims success",
    "nospace": "finds no room for its samples",
    "leak": "is killed halfway and leaves a shared-memory file behind",
    "empty": "records nothing and claims success",
}
HELD_AT = 100
ROLES = {
    "wakeup": ["both"],
    "timer-oneshot": ["both"],
    "timer-cyclic": ["both"],
    "pingpong": ["pong", "ping"],
    "pubsub": ["subscriber", "publisher"],
}


def main() -> int:
    if sys.argv[1:] == ["--capabilities"]:
        capabilities = [
            {
                "kind": kind,
                "transport": name,
                "roles": roles,
                "fixed_payload_bytes": None,
                "waits": ["idle"],
                "reports": kind.startswith("timer"),
                "wire": "fake" if "sub" in kind or "ping" in kind else None,
            }
            for kind, roles in ROLES.items()
            for name in BEHAVIOURS
        ]
        print(json.dumps({"stack": "fake", "capabilities": capabilities}))
        return 0
    parser = argparse.ArgumentParser()
    parser.add_argument("kind")
    parser.add_argument("--samples")
    for text in (
        "role",
        "transport",
        "result",
        "policy",
        "cpu",
        "topic",
        "reliability",
        "content",
        "durability",
        "history",
        "wait",
        "late",
    ):
        parser.add_argument(f"--{text}")
    for number in ("payload-bytes", "period-ns", "count", "priority", "depth"):
        parser.add_argument(f"--{number}", type=int)
    for number in ("lost-after-ns", "time-limit-ns", "subscribers", "start-delay-ns"):
        parser.add_argument(f"--{number}", type=int)
    parser.add_argument("--timeout-ns", type=int, dest="period_ns")
    return Fake(parser.parse_args()).run()


class Fake:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.stopped = False
        self.taken = self.lost = 0

    def run(self) -> int:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)
        self.meet_the_others()
        how = self.options.transport
        if how == "slow":
            time.sleep(1)
        if self.options.role == "pong":
            while not self.stopped:
                time.sleep(0.01)
        elif how == "garbage":
            Path(self.options.result).write_text("{not json")
            if self.options.samples:
                Path(self.options.samples).write_bytes(b"no samples " * 1000)
            return 0
        elif how == "nospace" and self.options.samples:
            error = {"what": "no room for the samples", "why": "ENOSPC", "fix": "free space"}
            self.write_result("failed", error)
            return 1
        elif how != "empty":
            self.record()
        self.write_result("stopped" if self.stopped else "complete", None)
        return 0

    def meet_the_others(self) -> None:
        """As discovery does: nobody starts, or ends, before those started earlier can listen."""
        result = Path(self.options.result)
        result = Path(os.environ.get("TAKT_FAKE_MEETING") or result.parent) / result.name
        ready = result.with_name(f"{result.name}.ready")
        ready.touch()
        name, number, _ = result.name.rsplit(".", 2)
        before = int(number) if number.isdecimal() else 0  # a talker has no number
        earlier = [result.with_name(f"{name}.{k}.json.ready") for k in range(before)]
        while not self.stopped and not all(one.exists() for one in earlier):
            time.sleep(0.005)

    def stop(self, *_: object) -> None:
        self.stopped = True

    def record(self) -> None:
        count, period = self.options.count, self.options.period_ns
        size = 4096 + 32 * count
        samples = None
        if self.options.samples:
            file = os.open(self.options.samples, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            os.posix_fallocate(file, 0, size)
            samples = mmap.mmap(file, size)
            samples[:48] = struct.pack("<8sIIQQQq", b"TAKTSMP1", 4096, 32, count, 0, 0, 7)
        start = time.monotonic_ns()
        held = self.options.transport == "held"
        moment = HELD_AT if held else count // 2
        for k in range(count):
            intended = start + k * period
            if not (held and k > moment):
                time.sleep(max(0, intended - time.monotonic_ns()) / 1e9)
            if k == moment:
                self.misbehave()
            if self.stopped:
                break
            lost = self.options.transport == "lossy" and k % 10 == 9
            self.taken += 1
            self.lost += lost
            if samples is None or (lost and self.options.kind == "pubsub"):
                continue
            at = k - (self.lost if self.options.kind == "pubsub" else 0)
            received = 0 if lost else intended + 11_000 + k
            samples[4096 + 32 * at : 4128 + 32 * at] = struct.pack(
                "<Qqqq", k, intended, intended + 1000, received
            )
            samples[24:32] = struct.pack("<Q", at + 1)

    def misbehave(self) -> None:
        how = self.options.transport
        if how == "held":
            self.wait_for_go()
        if how == "crash":
            print("boom: this is the stack's last word", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)
        if how == "hang":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            print("waiting for a reader that is gone", file=sys.stderr, flush=True)
            while True:
                time.sleep(1)
        if how == "leak":
            name = os.environ["TAKT_FAKE_LEAK"]
            file = os.open(f"/dev/shm/{name}", os.O_RDWR | os.O_CREAT, 0o600)
            os.ftruncate(file, 4096)
            self.kept = mmap.mmap(file, 4096)
            time.sleep(0.6)
            self.wait_for_go()
            os.kill(os.getpid(), signal.SIGKILL)

    def wait_for_go(self) -> None:
        go = Path(os.environ.get("TAKT_FAKE_GO", "/never"))
        while not (self.stopped or go.exists()):
            time.sleep(0.005)

    def middleware(self) -> dict[str, str]:
        """As ROS 2 chooses it."""
        chosen = os.environ.get("RMW_IMPLEMENTATION")
        return {"rmw": chosen} if chosen else {}

    def write_result(self, status: str, error: object) -> None:
        o = self.options
        result = {
            "schema_version": 2,
            "stack": "fake",
            "kind": o.kind,
            "role": o.role,
            "transport": o.transport,
            "status": status,
            "error": error,
            "sent": 0 if o.role in {"pong", "subscriber"} else self.taken,
            "received": self.taken - self.lost,
            "lost": self.lost if o.role in {"both", "ping"} else 0,
            "duplicated": 0,
            "out_of_order": 0,
            "requested": {"policy": o.policy, "priority": o.priority, "cpu": []},
            "granted": {"policy": "other", "priority": 0, "cpu": [], "threads": []},
            "notes": [],
            "versions": {"fake": "1", **self.middleware()},
        }
        Path(o.result).write_text(json.dumps(result))


if __name__ == "__main__":
    sys.exit(main())
