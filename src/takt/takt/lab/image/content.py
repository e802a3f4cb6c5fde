# SPDX-License-Identifier: Apache-2.0
"""The root of the target: an initramfs with the tool, its probes and all libraries of theirs.

It lies in the target's memory, so that nothing waits for the stick while it is measured.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from takt.errors import Failure
from takt.lab import initramfs
from takt.lab.image import python, target
from takt.lab.initramfs import Archive
from takt.lab.kernels import Kernel
from takt.network import stacks

# That a PC needs to find its stick, whatever that is behind, its keyboard, and its frequencies.
MODULES = (
    *("virtio_pci", "virtio_blk", "virtio_scsi", "xhci_pci", "ehci_pci", "ohci_pci", "uhci_hcd"),
    *("usb_storage", "uas", "ahci", "ata_piix", "nvme", "sdhci_pci", "sdhci_acpi", "mmc_block"),
    *("sd_mod", "vfat", "nls_cp437", "nls_ascii", "nls_utf8", "usbhid", "hid_generic"),
    *("acpi_cpufreq", "crc32c_generic"),
)
# Beside the probes, where they are installed: what loads, disturbs, and shapes a network.
PROGRAMS = ("cyclictest", "hackbench", "stress-ng", "iperf3", "tc", "ip")
LEFT_OUT = ("probe_ros1", "bench_record")  # roscpp needs a rosmaster, which is an installation
_PACKAGES = ("takt_probes", "takt_runner")
# What is loaded by name at run time, and no program names.
_SUPPORT = re.compile(r"lib(.+?)__rosidl_(?:typesupport|generator)_\w+\.so")
_RMW = "librmw*.so*"
_VARIABLES = ("LD_LIBRARY_PATH", "AMENT_PREFIX_PATH", "RMW_IMPLEMENTATION", "ROS_DISTRO")


def root(kernel: Kernel) -> Archive:
    """All of it. Raises Failure where something that it needs is not there."""
    archive = Archive()
    initramfs.begin(archive, kernel.modules, MODULES)
    archive.file("init", target.INIT.encode(), executable=True)
    archive.file(target.POWEROFF, target.POWEROFF_SCRIPT.encode(), executable=True)
    archive.file(target.TAKT, target.TAKT_SCRIPT.encode(), executable=True)
    archive.file(target.ENVIRONMENT, exported(environment()).encode())
    sources = python.files()
    for one in sources:
        archive.file(initramfs.merged(one), one.read_bytes(), executable=one.suffix == ".so")
    for place, code in python.compiled([one for one in sources if one.suffix == ".py"]).items():
        archive.file(initramfs.merged(place), code)
    programs = [python.interpreter(), *_of_takt(), *_of_the_system()]
    extensions = [one for one in sources if re.search(r"\.so(\.\d+)*$", one.name)]
    archive.programs([*programs, *extensions])
    archive.programs(_loaded_later(initramfs.libraries(*programs)))
    busybox = f"/{initramfs.BUSYBOX}"
    scripts = {"sh": busybox, "env": busybox, "python3": str(python.interpreter())}
    for name, program in scripts.items():  # in the first line of scripts, a probe's too
        if f"usr/bin/{name}" not in archive.files:
            archive.link(f"usr/bin/{name}", program)
    for name, text in _of_the_names().items():
        archive.file(name, text)
    return archive


def environment(here: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What the tool sees there: the folders have the names that they have here."""
    return {
        **{name: here[name] for name in _VARIABLES if here.get(name)},
        "TAKT_PREFIX": os.pathsep.join(str(one) for one in _prefixes()[:1]),
        "PYTHONPATH": os.pathsep.join(map(str, python.search_path())),
        "TAKT_PYTHON": str(python.interpreter()),
    }


def exported(variables: Mapping[str, str]) -> str:
    """As lines of a shell."""
    lines = (f"export {name}={shlex.quote(value)}" for name, value in sorted(variables.items()))
    return "\n".join([*lines, ""])


def stacks_inside() -> list[str]:
    """The communication stacks whose probes are taken along."""
    return sorted(one.name.removeprefix("probe_") for one in _of_takt() if "probe_" in one.name)


def _prefixes() -> list[Path]:
    found = [one for one in stacks.prefixes() if (one / "lib" / _PACKAGES[0]).is_dir()]
    if not found:
        raise Failure("no probe is installed", fix=stacks.HOW_TO_GET)
    return found


def _of_takt() -> list[Path]:
    found = (
        one
        for package in _PACKAGES
        for one in sorted((_prefixes()[0] / "lib" / package).glob("*"))
        if one.is_file() and os.access(one, os.X_OK) and one.name not in LEFT_OUT
    )
    return list(found)


def _of_the_system() -> list[Path]:
    found = (shutil.which(name) for name in PROGRAMS)
    return [Path(one) for one in found if one]


def _loaded_later(linked: Sequence[Path]) -> list[Path]:
    """The libraries that ROS 2 loads by name: type supports of the messages, middlewares."""
    names = {match[1] for one in linked if (match := _SUPPORT.fullmatch(one.name))}
    folders = {one.parent.resolve() for one in linked if _SUPPORT.fullmatch(one.name)}
    found: set[Path] = set()
    for folder in folders:
        found.update(folder.glob(_RMW))
        for one in folder.glob("lib*__rosidl_typesupport_*.so"):
            match = _SUPPORT.fullmatch(one.name)
            if match and match[1] in names and "_py" not in one.name:
                found.add(one)
    return sorted(found)


def _of_the_names() -> dict[str, bytes]:
    """What the C library asks for names of users and hosts: there is one of each."""
    return {
        "etc/passwd": b"root:x:0:0:root:/root:/bin/sh\n",
        "etc/group": b"root:x:0:\n",
        "etc/hosts": b"127.0.0.1 localhost\n",
        "etc/nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files\n",
    }
