# SPDX-License-Identifier: Apache-2.0
"""Which communication stacks are installed, and what their probes can do."""

from __future__ import annotations

import difflib
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from takt import plugins
from takt.errors import Failure, TaktError, Unsupported
from takt.network import rmw
from takt.network.rmw import RCL, RCLCPP
from takt.processes import process

CAPABILITIES_LIMIT_S = 60.0  # on a busy machine at nice 19 it takes half of it
# That install programs, or a library to preload.
PACKAGES = ("takt_probes", "takt_core", "takt_runner", "takt_rclcpp", "takt_record")
ON_REQUEST = (
    "ros1",
    "cyclictest",
    "cyclonedds",
    "rustdds",
    "iceoryx2",
    "zenoh",
    "ethercat",
)  # what ``takt setup`` can add
OWN = Path(__file__).resolve().parents[1] / "installed"  # programs that came with a wheel
IN_A_WHEEL = (
    "this Takt was installed without a clone and has what needs no ROS 2; the rest is built by "
    "./takt in a clone, or by colcon in a workspace: source that first"
)
HOW_TO_GET = (
    IN_A_WHEEL
    if OWN.is_dir()
    else "a stack is built if its libraries are installed: ./takt --setup-only builds all "
    "available stacks and lists what is missing"
)
KNOWN = ("raw", RCL, "rcl_direct", RCLCPP, *ON_REQUEST)  # Takt's own; plug-ins may add some
# Where there is no ROS 2 for the machine, or none is asked for, the launcher sets up the rest.
WITHOUT_ROS = os.environ.get("TAKT_ROS") == "none"
HOW_TO_GET_ROS = (
    "Takt is set up without ROS 2: source an installation of ROS 2 first, or on x86-64 "
    "use its wheels: --ros kilted"
)
HOW_TO_GET_RCLCPP = (
    "source a ROS 2 installation with rclcpp (Jazzy or later), then run ./takt "
    "--setup-only to build the stack"
)
HOW_TO_GET_RMW = (
    "source a ROS 2 installation that has this middleware: apt-get install "
    "ros-$ROS_DISTRO-rmw-{}-cpp"
)

Value = TypeVar("Value")


def parts(name: str) -> list[str]:
    """The stacks of "one,other"."""
    return name.split(",")


def of_role(each: Sequence[Value], role: str) -> Value:
    """What belongs to a role: the first value to ping and publisher, the last to the other."""
    return each[0] if role in {"both", "ping", "publisher"} else each[-1]


class Exclusion(BaseModel):
    """Values that do not go together, by option of the probe."""

    values: dict[str, str]
    why: str


class Capability(BaseModel):
    """One way of measuring: docs/reference/probes.md."""

    model_config = ConfigDict(extra="ignore")

    kind: str
    transport: str
    roles: list[str]
    fixed_payload_bytes: int | list[int] | None = None
    max_payload_bytes: int | None = None
    waits: list[str] = ["idle"]
    threads: bool = False  # several of them as one cell, each with a period of its own
    reports: bool = False  # the timer itself says how late it was
    executors: list[str] = []  # what may run the callbacks, the default first
    contents: list[str] = ["bytes"]  # of a message
    durabilities: list[str] = []  # of the QoS; empty: nothing to choose
    histories: list[str] = []  # likewise
    allocators: list[str] = ["heap"]  # of the client library and of messages
    dds: bool = False  # its middleware is a DDS, which starts threads of its own
    min_string_bytes: int | None = None  # the payload of a string holds the message header
    without: dict[str, str] = {}  # keys without a choice, each with the reason
    excluded: list[Exclusion] = []
    wire: str | None = None  # what goes from host to host; probes of the same understand each other
    apart: bool = False  # it needs two hosts

    @property
    def payloads(self) -> list[int] | None:
        """The only sizes that it can carry; None: any."""
        fixed = self.fixed_payload_bytes
        return [fixed] if isinstance(fixed, int) else fixed

    @property
    def choices(self) -> dict[str, list[str]]:
        """The values to choose from, by the key of an experiment; none: nothing to choose."""
        return {
            "wait": self.waits,
            "executor": self.executors,
            "content": self.contents,
            "allocator": self.allocators,
            "durability": self.durabilities,
            "history": self.histories,
        }


class _Answer(BaseModel):
    stack: str
    capabilities: list[Capability]


@dataclass(frozen=True)
class Stack:
    """One installed probe; or two that talk to each other, for "one,other"."""

    name: str
    probe: Path  # of the active role: ping, publisher
    capabilities: list[Capability]
    passive: Path | None = None  # of the other role; None: the same
    implementations: tuple[str, ...] = ()  # of RMW, for each role; none: the installation's

    def start(self, role: str) -> list[str]:
        """The command that starts a role, without its options."""
        implementation = self.implementation(role)
        chosen = ["env", *rmw.settings(implementation)] if implementation else []
        return [*chosen, str(self.probe_of(role))]

    def implementation(self, role: str) -> str:
        """That of RMW that a role is started with; empty: the installation's."""
        return of_role(self.implementations, role) if self.implementations else ""

    def probe_of(self, role: str) -> Path:
        """The program of a role."""
        return self.probe if self.passive is None else of_role((self.probe, self.passive), role)

    def transports(self, kind: str) -> list[str]:
        """The transports of a kind, the default first."""
        return [one.transport for one in self.capabilities if one.kind == kind]

    def executor(self, kind: str, transport: str) -> str:
        """What runs the callbacks unless another is asked for; empty: nothing to choose."""
        capability = self.capability(kind, transport)
        return next(iter(capability.executors), "") if capability else ""

    def capability(self, kind: str, transport: str) -> Capability | None:
        """What it can do for this kind over this transport; None: nothing."""
        for one in self.capabilities:
            if (one.kind, one.transport) == (kind, transport):
                return one
        return None


@dataclass
class Stacks:
    """All probes below the install prefixes; each is asked for its capabilities once, when used."""

    probes: Mapping[str, Path]
    implementations: Mapping[str, str] = field(default_factory=dict)  # of RMW, by stack
    _asked: dict[str, Stack] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        return all(one in self.probes for one in parts(name))

    def __getitem__(self, name: str) -> Stack:
        if name not in self._asked:
            each = parts(name)
            self._asked[name] = (
                _both(name, *map(self.__getitem__, each))
                if len(each) == 2
                else _ask(name, self.probes[name], self.implementations.get(name, ""))
            )
        return self._asked[name]

    def is_known(self, name: str) -> bool:
        """Whether there may be such a stack elsewhere; else it is misspelt, or of a plug-in."""
        known = {*KNOWN, *rmw.every(), *self.probes}
        return all(one in known for one in parts(name))

    def missing(self, name: str, where: str) -> TaktError:
        """The error for a stack that is not there."""
        there = ", ".join(sorted(self.probes)) or "none"
        lacking = [one for one in parts(name) if one not in self.probes]
        name = next((one for one in lacking if not self.is_known(one)), lacking[0])
        return TaktError(
            f"the stack {name} is not installed (installed: {there})",
            where=where,
            fix=f"install it: ./takt setup {name}"
            if name in ON_REQUEST
            else self._how_to_get(name),
        )

    def _how_to_get(self, name: str) -> str:
        if not self.is_known(name):
            near = difflib.get_close_matches(name, [*KNOWN, *rmw.every(), *self.probes], n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            every = ", ".join(KNOWN)
            return f"{hint}stacks: {every}; a plug-in that adds another one is not installed"
        if name not in KNOWN:
            return HOW_TO_GET_RMW.format(name.partition("_")[2].replace("_", "-"))
        if name == RCLCPP:
            return HOW_TO_GET_RCLCPP
        return HOW_TO_GET_ROS if name == RCL and WITHOUT_ROS else HOW_TO_GET


def prefixes(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Where probes may be: TAKT_PREFIX, what a sourced workspace names, the tool's own wheel."""
    named = [environment.get("TAKT_PREFIX", "")]
    named += environment.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return [*(Path(one) for one in named if one), *([OWN] if OWN.is_dir() else [])]


def find(environment: Mapping[str, str] = os.environ) -> Stacks:
    """Finds all probes; the first prefix that has one of a name wins, plug-ins come last."""
    probes: dict[str, Path] = {}
    for prefix in prefixes(environment):
        for probe in sorted((prefix / "lib" / "takt_probes").glob("probe_*")):
            if os.access(probe, os.X_OK) and probe.is_file():
                probes.setdefault(probe.name.removeprefix("probe_"), probe.resolve())
    for name, probe in plugins.loaded(plugins.STACKS, lambda probe_of: Path(probe_of())).items():
        probes.setdefault(name, probe)
    implementations: dict[str, str] = {}
    for base in (RCL, RCLCPP):
        if base in probes:
            named = dict(rmw.stacks(base, environment))
            implementations |= named
            probes |= dict.fromkeys(named, probes[base])
    return Stacks(probes, implementations)


def program(name: str, fix: str | None = None) -> Path:
    """The path of another program or library of Takt; raises Unsupported where it is not built."""
    needed = os.R_OK if name.endswith(".so") else os.X_OK
    for prefix in prefixes():
        for package in PACKAGES:
            path = prefix / "lib" / package / name
            if os.access(path, needed) and path.is_file():
                return path
    build = HOW_TO_GET_ROS if WITHOUT_ROS else "build it: ./takt --setup-only"
    if OWN.is_dir():
        fix = IN_A_WHEEL
    raise Unsupported(f"{name} is not installed", fix=fix or build)


def _both(name: str, active: Stack, passive: Stack) -> Stack:
    """Two stacks as one: what both put on the same wire."""
    shared = []
    for one in active.capabilities:
        other = passive.capability(one.kind, one.transport)
        if other is None or one.wire is None or one.wire != other.wire:
            continue
        limits = [most for most in (one.max_payload_bytes, other.max_payload_bytes) if most]
        # Each with its own default executor: one name cannot be asked of both.
        update: dict[str, object] = {
            "max_payload_bytes": min(limits, default=None),
            "executors": [],
            "contents": [it for it in one.contents if it in other.contents],
            "durabilities": [it for it in one.durabilities if it in other.durabilities],
            "histories": [it for it in one.histories if it in other.histories],
            "allocators": [name for name in one.allocators if name in other.allocators],
            "dds": one.dds and other.dds,
            "without": one.without | other.without,
            "excluded": one.excluded + other.excluded,
        }
        shared.append(one.model_copy(update=update))
    each = (active.implementation("ping"), passive.implementation("pong"))
    return Stack(name, active.probe, shared, passive.probe, each if any(each) else ())


def _ask(name: str, probe: Path, implementation: str) -> Stack:
    rebuild = "build it again: ./takt --setup-only"
    try:
        chosen = ["env", *rmw.settings(implementation)] if implementation else []
        done = process.output([*chosen, probe, "--capabilities"], CAPABILITIES_LIMIT_S)
    except subprocess.TimeoutExpired:
        raise Failure(
            f"the probe of the stack {name} did not answer in {CAPABILITIES_LIMIT_S:g} s",
            where=str(probe),
            fix="run again when the machine is less busy",
        ) from None
    except OSError as error:
        raise Failure(f"cannot start the probe of the stack {name}: {error}", fix=rebuild) from None
    if done.returncode:
        tail = done.stderr.strip()[-500:] or f"exit code {done.returncode}"
        raise Failure(f"the probe of {name} fails: {tail}", where=str(probe), fix=rebuild)
    try:
        answer = _Answer.model_validate(json.loads(done.stdout))
    except (ValueError, ValidationError) as error:
        text = (
            f"the probe of {name} prints capabilities that this tool does not understand: {error}"
        )
        raise Failure(text, where=str(probe), fix=rebuild) from None
    if not implementation:
        return Stack(name, probe, answer.capabilities)
    able = [one for one in answer.capabilities if rmw.carries(implementation, one.transport)]
    return Stack(name, probe, able, implementations=(implementation,))
