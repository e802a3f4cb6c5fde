# SPDX-License-Identifier: Apache-2.0
"""Virtual machines: somebody else may take the core at any time."""

from __future__ import annotations

from takt.doctor.check import UNREADABLE, Check, Judgement, good, problem, warning
from takt.machine.system import System

_DMI = {
    "QEMU": "KVM/QEMU",
    "KVM": "KVM",
    "Amazon EC2": "Amazon EC2",
    "Google": "Google Compute Engine",
    "VMware": "VMware",
    "innotek": "VirtualBox",
    "VirtualBox": "VirtualBox",
    "Xen": "Xen",
    "Virtual Machine": "Hyper-V",
    "Parallels": "Parallels",
    "OpenStack": "KVM/OpenStack",
}
_CLOCKS = {"kvm-clock": "KVM", "xen": "Xen", "hyperv": "Hyper-V"}

NOTABLE_STEAL = 0.0005  # half a millisecond a second
LARGE_STEAL = 0.01
LARGE_STEAL_NOW = 0.05  # the moment looked at is short: one clock tick in it is 1 to 3 %


def hypervisor_name(system: System) -> str | None:
    """The hypervisor below this kernel; "unknown" where there is one without a name; else None."""
    flags = system.pairs("/proc/cpuinfo").get("flags")
    if flags is not None and "hypervisor" not in flags.split():
        return None  # x86 says it plainly; other architectures have no such flag
    named = _named_by_kernel(system) or _named_by_firmware(system) or _named_by_clock(system)
    return named or ("unknown" if flags else None)


def _named_by_kernel(system: System) -> str | None:
    if "microsoft" in system.release.lower():
        return "Hyper-V (WSL)"
    kind = system.text("/sys/hypervisor/type")
    return "Xen" if kind == "xen" else kind


def _named_by_firmware(system: System) -> str | None:
    if compatible := system.text("/proc/device-tree/hypervisor/compatible"):
        return "KVM" if "kvm" in compatible else compatible.replace("\0", " ")
    for name in ("sys_vendor", "product_name", "board_vendor"):
        text = system.text(f"/sys/class/dmi/id/{name}") or ""
        for prefix, found in _DMI.items():
            if text.startswith(prefix):
                return found
    return None


def _named_by_clock(system: System) -> str | None:
    clocks = system.text("/sys/devices/system/clocksource/clocksource0/available_clocksource") or ""
    return next((found for word, found in _CLOCKS.items() if word in clocks), None)


def is_virtual(system: System) -> bool:
    """Tell whether a hypervisor runs below this kernel."""
    return hypervisor_name(system) is not None


def _hypervisor(system: System) -> Judgement:
    name = hypervisor_name(system)
    if name is None:
        return good("none found") if system.exists("/proc/cpuinfo") else UNREADABLE
    return warning(
        "virtual machine, " + ("its maker is not readable" if name == "unknown" else name),
        "on the host: pin each vCPU to a core of its own (libvirt: <vcpupin>), isolate those "
        "cores, and set <vcpusched scheduler='fifo' priority='1'/>",
    )


def _steal(system: System) -> Judgement:
    times, window = system.cpu_times(), system.window
    if times is None or not times.total:
        why = "Time that the host gives to others is time in which the robot does not react."
        return UNREADABLE._replace(why=why)
    since_boot = times.steal / times.total
    now = window.steal if window else 0.0
    value = f"{since_boot:.2%} since boot, {now:.2%} right now"
    fix = "on the host: give this machine cores of its own, or measure when the host is quiet"
    if since_boot >= LARGE_STEAL or now >= LARGE_STEAL_NOW:
        return problem(value, fix)
    return warning(value, fix) if since_boot >= NOTABLE_STEAL or now else good(value)


CHECKS = (
    Check(
        "hypervisor",
        "Hypervisor",
        _hypervisor,
        "The host can stop this whole machine for milliseconds, and no setting in here "
        "prevents it. Good for development; a robot's control loop belongs on bare metal, or on "
        "cores that the host dedicates to this machine.",
    ),
    Check(
        "steal",
        "Time stolen by the hypervisor",
        _steal,
        "In stolen time, the core runs another virtual machine. A cycle within it is missed, "
        "whatever its priority.",
    ),
)
