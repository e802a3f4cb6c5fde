# SPDX-License-Identifier: Apache-2.0
"""A second host on this machine: a network namespace behind a link of a limited rate.

The namespace belongs to a process of ours, which cannot outlive us; with the last process in it the
kernel removes it and both ends of the link. It has a machine-id of its own (``same_host``). Its
addresses are from the network for benchmarks (RFC 2544), and from IPv6's local one for what must
not be counted with the messages.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import re
import shlex
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from takt.errors import Failure
from takt.network import addresses, same_host, second_path, shaping
from takt.processes.process import Process, output

HERE, THERE = "here", "namespace"  # the hosts that a role may be on
LIMIT_S = 20.0
_INTERFACES = Path("/sys/class/net")
_MACHINE = same_host.MACHINE
_HOLD = 'mount --bind "$1" "$2" && exec sleep infinity'
_NAME = re.compile("takt[0-9a-f]{8}")
RELAYED = ("first", "second")  # the interfaces of who forwards: towards here, and to the other end
_FIRST = 100  # exit code of a shell whose first step failed; 101: the second one
_THERE = "takt0"  # the other end, which is alone in its namespace
_SIOCGIFFLAGS, _IFF_RUNNING = 0x8913, 0x40  # linux/sockios.h, linux/if.h
_NEEDED = {12: "CAP_NET_ADMIN", 21: "CAP_SYS_ADMIN"}


@dataclass(frozen=True)
class Carried:
    """Bytes that came over a link up to now: to the second host and back."""

    at: float  # s, CLOCK_MONOTONIC
    there: int
    back: int
    messages_there: int  # IPv4, with its headers
    messages_back: int
    traffic_there: int  # payload of UDP over IPv6, as it was received
    traffic_back: int


@dataclass(frozen=True)
class Wants:
    """What a link is to be like."""

    bits_per_s: int
    queue: str = shaping.SHARED
    traffic: bool = False  # there will be some: then the ends have addresses for it, too
    relay: bool = False  # frames go through a third namespace, where somebody has to forward them
    bare: bool = False  # for frames of another protocol: no addresses, no limited rate
    timed: bool = False  # messages have times at which they leave


class Link:
    """Two hosts: this one and the namespace."""

    def __init__(
        self, interface: str, domain: int, holder: Process, between: Process | None = None
    ) -> None:
        self.interface = interface
        self._between = between
        self.addresses = (f"198.18.{domain}.1", f"198.18.{domain}.2")
        self.traffic_addresses = (f"fd00:7a6b:{domain:x}::1", f"fd00:7a6b:{domain:x}::2")
        self.other_end = _THERE  # the interface of the second host
        self._holder = holder
        self._last = Carried(0.0, 0, 0, 0, 0, 0, 0)

    def inside(self, command: list[str]) -> list[str]:
        """The command that runs this one on the second host."""
        return [*_enter(self._holder), *command]

    def between(self, command: list[str]) -> list[str]:
        """The command that runs this one between the hosts, at the interfaces RELAYED."""
        if self._between is None:
            raise ValueError("there is no link between the hosts")
        return [*_enter(self._between), *command]

    def carried(self) -> Carried:
        """As the kernel counts it; once the second host is gone, nothing is added."""
        began = time.monotonic()
        with contextlib.suppress(OSError):
            self._last = self._read()
        return replace(self._last, at=(began + time.monotonic()) / 2)

    def _read(self) -> Carried:
        net = Path(f"/proc/{self._holder.pid}/net")
        octets = _counters(net / "netstat", "IpExt:")
        here = _INTERFACES / self.interface / "statistics"
        return Carried(
            at=0.0,
            there=int((here / "tx_bytes").read_text(encoding="ascii")),
            back=int((here / "rx_bytes").read_text(encoding="ascii")),
            messages_there=octets["InOctets"],
            messages_back=octets["OutOctets"],
            traffic_there=second_path.payload(_THERE, net),
            traffic_back=second_path.payload(self.interface),
        )

    def sent_first(self) -> tuple[int, int]:
        """Bytes that left through the class of the messages: to the second host and back."""
        ends = (shaping.show(self.interface), self.inside(shaping.show(_THERE)))
        try:
            there, back = (shaping.sent(output(one, LIMIT_S).stdout) for one in ends)
        except (OSError, subprocess.TimeoutExpired):
            return 0, 0
        return there, back

    def listens(self, port: int) -> bool:
        """Whether somebody on the second host listens on this TCP port."""
        return second_path.listens(port, Path(f"/proc/{self._holder.pid}/net"))


def lacking() -> tuple[str, str] | None:
    """What this process lacks to make one, and what to do; None: nothing."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    line = next((one for one in status.splitlines() if one.startswith("CapEff:")), "CapEff: 0")
    has = int(line.split()[1], 16)
    absent = [name for bit, name in _NEEDED.items() if not has >> bit & 1]
    if absent:
        what = f"this process may not create a network namespace: it lacks {' and '.join(absent)}"
        return what, "run it as root; in a container: docker run --privileged"
    # Only now: Debian's PATH of an ordinary user has no folder of tc's.
    for program, package in (("ip", "iproute2"), ("tc", "iproute2"), ("nsenter", "util-linux")):
        if shutil.which(program) is None:
            return f"{program} is not installed", f"install it: apt-get install {package}"
    return None


@functools.cache
def lacking_times() -> tuple[str, str] | None:
    """Why messages cannot leave at set times, tried in a namespace of its own; None: they can."""
    calls = " && ".join(map(shlex.join, shaping.at_times("lo", "root")))
    tried = output(["unshare", "--net", "--", "sh", "-c", calls], LIMIT_S)
    if not tried.returncode:
        return None
    words = tried.stderr.strip().splitlines() or [f"exit code {tried.returncode}"]
    what = f"this kernel cannot send at set times: {words[-1]}"
    return what, "use a kernel with CONFIG_NET_SCH_ETF and CONFIG_NET_SCH_PRIO, or takt lab"


@contextlib.contextmanager
def link(scratch: Path, run_id: str, domain: int, wants: Wants) -> Iterator[Link]:
    """Makes both; no other run of this machine has the same run id or domain.

    Raises Failure where the machine refuses.
    """
    interface = f"takt{run_id[:8]}"
    identity = scratch / "machine-id"
    identity.write_text(f"{run_id:0>32}\n", encoding="ascii")
    hold = ["sh", "-c", _HOLD, "sh", str(identity), str(_MACHINE)]
    if not _MACHINE.exists():  # of some containers; then their addresses tell hosts apart
        hold = ["sleep", "infinity"]
    holder = Process(["unshare", "--net", "--mount", "--", *hold])
    others = []
    try:
        _await(holder)
        if wants.relay:
            others.append(Process(["unshare", "--net", "--mount", "--", "sleep", "infinity"]))
            _await(others[0])
        new_link = Link(interface, domain, holder, *others)
        _connect(new_link, holder.pid, wants, *(one.pid for one in others))
        yield new_link
    finally:
        remove(interface)
        for process in (holder, *others):
            process.end(0)


def interfaces() -> list[str]:
    """Those of this host."""
    return sorted(one.name for one in _INTERFACES.iterdir())


def exists(interface: str) -> bool:
    """Whether this host has it."""
    return (_INTERFACES / interface).exists()


def remove(interface: str) -> bool:
    """Removes an interface of ours with its other end; whether it was there."""
    if not exists(interface):
        return False
    with contextlib.suppress(OSError, subprocess.TimeoutExpired), addresses.changing():
        output(["ip", "link", "del", interface], LIMIT_S)
    return True


def left_by(scratch: Path, *, remove_it: bool) -> list[str]:
    """The interface of a dead run that is still there; its scratch folder's name says which."""
    interface = f"takt{scratch.name[-8:]}"
    if not _NAME.fullmatch(interface) or not exists(interface):
        return []
    if remove_it:
        remove(interface)
    return [interface]


def _enter(holder: Process) -> list[str]:
    of = f"/proc/{holder.pid}/ns"
    return ["nsenter", f"--net={of}/net", f"--mount={of}/mnt", "--"]


def _connect(new_link: Link, namespace: int, wants: Wants, between: int | None = None) -> None:
    here, there = new_link.interface, _THERE
    pairs = [(here, there, namespace, False)]
    if between is not None:
        pairs = [(here, RELAYED[0], between, False), (there, RELAYED[1], between, True)]
    for one, other, where, inside in pairs:
        add = ["ip", "link", "add", one, "type", "veth", "peer", "name", other]
        add += ["netns", str(where)]
        _do([_Step(add, "a pair of virtual interfaces")], new_link.inside if inside else list)
    if between is not None:
        silent = [["ip", "link", "set", one, "addrgenmode", "none", "up"] for one in RELAYED]
        _do([_Step(one, "an interface for the relay") for one in silent], new_link.between)
    with contextlib.nullcontext() if wants.bare else addresses.changing():
        _do(_steps(new_link, here, 0, wants), list)
        _do(_steps(new_link, there, 1, wants), new_link.inside)
        _await_running(here)


def _await_running(interface: str) -> None:
    """Until the kernel has noticed that both ends are up: its address counts from then on."""
    limit = time.monotonic() + LIMIT_S
    while not runs(interface) and time.monotonic() < limit:
        time.sleep(0.01)


def runs(interface: str) -> bool:
    """Whether it is up and has somebody at its other end."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        request = struct.pack("16sH22x", interface.encode(), 0)
        flags: int = struct.unpack_from("H", fcntl.ioctl(asked, _SIOCGIFFLAGS, request), 16)[0]
    return bool(flags & _IFF_RUNNING)


@dataclass(frozen=True)
class _Step:
    """A command, and what the link has by it."""

    command: list[str]
    what: str


def _steps(new_link: Link, interface: str, end: int, wants: Wants) -> list[_Step]:
    """What makes an end of the link usable."""
    silent = ["ip", "link", "set", interface, "addrgenmode", "none"]
    up = _Step(["ip", "link", "set", interface, "up"], "an interface that is up")
    if wants.bare:
        # Even an IPv6 address that the kernel makes up would send.
        return [_Step(silent, "no address"), up]
    address = ["ip", "address", "add", f"{new_link.addresses[end]}/30", "dev", interface]
    steps = [_Step(address, "an address")]
    if end == 1:
        # What goes to an own address goes there: Cyclone wakes its threads so when it ends.
        steps += [_Step(["ip", "link", "set", "lo", "up"], "a loopback")]
    if wants.traffic:
        # Another IPv6 address would send before anybody has asked for anything.
        address = ["ip", "address", "add", f"{new_link.traffic_addresses[end]}/64"]
        address += ["dev", interface, "nodad"]
        steps += [_Step(silent, "IPv6 for traffic"), _Step(address, "IPv6 for traffic")]
    shapes = shaping.commands(interface, wants.bits_per_s, wants.queue)
    steps += [up, *(_Step(one, "a limited rate") for one in shapes)]
    timed = shaping.at_times(interface, "parent", "1:1") if wants.timed else []
    return [*steps, *(_Step(one, "a queue of messages with times") for one in timed)]


def _do(steps: Sequence[_Step], at: Callable[[list[str]], list[str]]) -> None:
    """All of them by one shell, which is started once instead of a program and its guard each."""
    lines = [f"{shlex.join(one.command)} || exit {_FIRST + n}" for n, one in enumerate(steps)]
    try:
        done = output(at(["sh", "-c", "\n".join(lines)]), LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failure(
            f"setup of the link to the second host failed at {steps[0].what}: {error}"
        ) from error
    if done.returncode:
        reached = done.returncode - _FIRST
        failed = steps[reached] if 0 <= reached < len(steps) else steps[0]
        words = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        by_hand = " ".join(at(failed.command))
        raise Failure(
            f"setup of the link to the second host failed at {failed.what}: {words[-1]}",
            fix=f"check that the kernel has veth, tbf and IPv6; to try it by hand: {by_hand}",
        )


def _await(holder: Process) -> None:
    """Until it is in namespaces of its own, with all that belongs there."""
    limit = time.monotonic() + LIMIT_S
    while time.monotonic() < limit and holder.poll() is None:
        with contextlib.suppress(OSError):
            if Path(f"/proc/{holder.pid}/comm").read_text(encoding="utf-8") == "sleep\n":
                return
        time.sleep(0.01)
    raise Failure(
        "cannot create a network namespace here",
        fix="to see the reason: unshare --net --mount true; a container needs --privileged",
    )


def _counters(file: Path, group: str) -> dict[str, int]:
    """A line of names and a line of values."""
    lines = file.read_text(encoding="ascii").splitlines()
    names, values = (line.split()[1:] for line in lines if line.startswith(group))
    return dict(zip(names, map(int, values), strict=True))
