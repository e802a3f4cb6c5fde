# SPDX-License-Identifier: Apache-2.0
"""How numbers and settings are written for people: sensible digits, a unit, no jargon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

ABSENT = "–"
THIN_SPACE = "\u2009"
GROUP_SPACE = "\u202f"  # narrow, and never broken at the end of a line

STACKS = {
    "raw": "Linux only",
    "cyclictest": "cyclictest",
    "rcl": "ROS 2",
    "rcl_cyclonedds": "ROS 2 on Cyclone DDS",
    "rcl_fastrtps": "ROS 2 on Fast DDS",
    "rcl_zenoh": "ROS 2 on Zenoh",
    "rclcpp": "rclcpp",
    "rclcpp_cyclonedds": "rclcpp on Cyclone DDS",
    "rclcpp_fastrtps": "rclcpp on Fast DDS",
    "ros1": "ROS 1",
    "cyclonedds": "Cyclone DDS",
    "rustdds": "RustDDS",
    "iceoryx2": "iceoryx2",
    "zenoh": "Zenoh",
    "ethercat": "EtherCAT",
}
TRANSPORTS = {
    "nanosleep": "clock_nanosleep",
    "clock": "readings of the clock",
    "futex": "futex hand-over",
    "udp": "UDP",
    "xdp": "UDP over AF_XDP",
    "txtime": "UDP at set times",
    "tcp": "TCP",
    "shm": "shared memory",
    "process": "within one process",
    "unique_ptr": "within one process by unique_ptr",
    "shared_ptr": "within one process by shared_ptr",
    "const_ref": "within one process by const reference",
    "loan": "within one process by loan",
    "timerfd": "timerfd",
    "rcl_timer": "rcl timer",
    "executor": "Takt's executor",
    "rclcpp_timer": "rclcpp timer",
    "ros_timer": "ros::Timer",
    "wall_timer": "ros::WallTimer",
    "steady_timer": "ros::SteadyTimer",
    "tcpros": "TCPROS",
    "tcpros_nodelay": "TCPROS without delay",
    "udpros": "UDPROS",
    "simulated": "simulated segment",
    "interface": "network interface",
}
SCHEDULINGS = {"other": "normal", "fifo": "real-time FIFO", "rr": "real-time RR"}


def stack(name: str) -> str:
    """A stack as people call it; of "one,other", who pings and who answers."""
    return " to ".join(STACKS.get(one, one) for one in name.split(","))


def count(value: int) -> str:
    """Group the digits of a whole number: ``12 345``."""
    return f"{value:,}".replace(",", GROUP_SPACE)


def fixed(value: float | None, digits: int = 0) -> str:
    """Write a number with so many digits behind the point: ``12 345.6``."""
    return ABSENT if value is None else f"{value:,.{digits}f}".replace(",", GROUP_SPACE)


def number_of(value: int, noun: str) -> str:
    """A number with its noun: ``1 run``, ``12 345 runs``."""
    return f"{count(value)} {noun}" + "s" * (value != 1)


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names in a sentence, the first of many: ``a, b, c and 4 more``."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def microseconds(value: float | None) -> str:
    """Write µs with three significant digits, or whole µs from 100 on; no unit."""
    if value is None:
        return ABSENT
    size = abs(value)
    return fixed(value, 2 if size < 10 else 1 if size < 100 else 0)


def duration(value_us: float | None) -> str:
    """Write a time with the unit that suits its size: ``850 µs``, ``1.25 ms``, ``2 s``."""
    if value_us is None:
        return ABSENT
    value_us = float(f"{value_us:.3g}")
    for factor, least, unit in ((6e7, 1.2e8, "min"), (1e6, 1e6, "s"), (1e3, 1e3, "ms")):
        if abs(value_us) >= least:
            return f"{value_us / factor:.3g}{THIN_SPACE}{unit}"
    if value_us.is_integer():
        return f"{value_us:.0f}{THIN_SPACE}µs"
    return f"{microseconds(value_us)}{THIN_SPACE}µs"


def seconds(value: float) -> str:
    """Write a time given in seconds."""
    return duration(value * 1e6) if value else f"0{THIN_SPACE}s"


def probability(value: float) -> str:
    """Write a probability in percent, or in parts of a million where that is readable."""
    if value == 0:
        return f"0{THIN_SPACE}%"
    if value >= 1e-4:
        return f"{value * 100:.2g}{THIN_SPACE}%" if value < 0.995 else f"100{THIN_SPACE}%"
    return f"{value * 1e6:.2g} in a million"


def bytes_(value: int) -> str:
    """Write a size of a payload: ``64 B``, ``512 kB``, ``4 MB``."""
    for factor, unit in ((1_000_000, "MB"), (1_000, "kB")):
        if value >= factor:
            return f"{value / factor:g}{THIN_SPACE}{unit}"
    return f"{value}{THIN_SPACE}B"


def time(value: datetime | None) -> str:
    """Write a date and time with its zone."""
    return value.strftime("%Y-%m-%d %H:%M:%S %Z").strip() if value else ABSENT


def sentence(text: str) -> str:
    """Begin with a capital letter, and never part a name at the end of a line.

    What begins with the name of a cell (``rcl-pubsub-…:``), a function of the system, a file or a
    callback keeps it.
    """
    first = text.split(" ", 1)[0]
    named = (first.endswith(":") and ("-" in first or "_" in first)) or "." in first.rstrip(".:,;")
    begin = text[:1] if named else text[:1].upper()
    return (begin + text[1:]).replace("ROS 2", "ROS\u00a02")


def full_stop(text: str) -> str:
    """Make a sentence of what another part of the tool wrote."""
    text = sentence(text.strip())
    return text if not text or text[-1] in ".!?:" else text + "."


def cpus(value: Sequence[int]) -> str:
    """Write the CPUs that something is bound to."""
    if not value:
        return "any CPU"
    return ("CPU " if len(value) == 1 else "CPUs ") + ", ".join(map(str, value))


def scheduling(name: str, priority: int, cpu: Sequence[int]) -> str:
    """Write a scheduling setting: ``real-time FIFO 80, CPU 1``."""
    name = SCHEDULINGS.get(name, name)
    return (f"{name} {priority}" if priority else name) + (f", {cpus(cpu)}" if cpu else "")


def setting(value: object) -> str:
    """Write one value of a settings dictionary."""
    if value is None or value in ("", []):
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value)
    if isinstance(value, list | tuple):
        return ", ".join(setting(item) for item in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{words(str(key))}: {setting(item)}" for key, item in value.items())
    return str(value)


def words(name: str) -> str:
    """Write a name of the code as words: ``memory_locked`` → ``memory locked``."""
    units = {"_ns": "ns", "_us": "µs", "_ms": "ms", "_bytes": "bytes", "_seconds": "s"}
    for ending, unit in {**units, "_percent": "%"}.items():
        if name.endswith(ending):
            return f"{words(name.removesuffix(ending))} ({unit})"
    if name in ("p999", "p9999", "p99999"):
        return f"p99.{name[3:]}"
    return name.replace("_", " ")


def rows(settings: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Flatten nested settings into rows of a table; an inner name follows its outer one."""
    flat: list[tuple[str, str]] = []
    for key, value in settings.items():
        name = f"{prefix}{words(str(key))}"
        if isinstance(value, Mapping) and value:
            flat += rows(value, f"{name}: ")
        else:
            flat.append((name, setting(value)))
    return flat
