# SPDX-License-Identifier: Apache-2.0
"""One boot of one kernel: the command line of QEMU, a limit, and what its console told."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from takt.errors import Failure
from takt.lab.cable import End
from takt.lab.kernels import Kernel
from takt.lab.modes import Mode, machine
from takt.processes.process import Process, how_ended
from takt.processes.supervision import POLL_S, Stop

QEMU = "qemu-system-x86_64"
MEMORY_MB = 1536
UP, STEP, DONE = "takt-lab: up", "takt-lab: step ", "takt-lab: done"  # what /init says
TRIAL_S = 60.0  # for a boot under KVM, where it works at all
_TAIL_LINES = 12
PANIC = re.compile(r"Kernel panic|KVM internal error|emulation failure|Attempted to kill init")


@dataclass(frozen=True)
class Share:
    """A folder of the host that the guest sees under the same path."""

    tag: str
    folder: Path
    writable: bool = False


@dataclass(frozen=True)
class Boot:
    """What is booted."""

    kernel: Kernel
    mode: Mode
    initramfs: Path
    console: Path  # the log
    shares: Sequence[Share] = ()
    options: Sequence[str] = ()  # on the kernel's command line, besides its own
    seed: int = 1
    cable: End | None = None  # to another guest


def check_installed() -> None:
    """Raises Failure where there is no QEMU."""
    if shutil.which(QEMU) is None:
        raise Failure(f"{QEMU} is not installed", fix="./takt setup lab")


def command(boot: Boot) -> list[str]:
    """The whole command line; nothing of the host but the shared folders is visible inside."""
    words = ["console=ttyS0", "loglevel=4", "panic=-1", "nokaslr", "tsc=reliable"]
    line = " ".join([*words, *boot.kernel.options, *boot.options])
    arguments = [QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    arguments += ["-m", str(MEMORY_MB), *machine(boot.mode, boot.seed)]
    arguments += [
        "-kernel",
        str(boot.kernel.image),
        "-initrd",
        str(boot.initramfs),
        "-append",
        line,
    ]
    arguments += ["-serial", f"file:{_quoted(boot.console)}"]
    arguments += boot.cable.arguments() if boot.cable else []
    for share in boot.shares:
        rights = "" if share.writable else ",readonly=on"
        what = f"local,path={_quoted(share.folder)},mount_tag={share.tag}"
        arguments += ["-virtfs", f"{what},security_model=none,multidevs=remap{rights}"]
    return arguments


def run(
    boot: Boot, limit_s: float, stop: Stop | None = None, step: Callable[[str], None] | None = None
) -> None:
    """Boots, waits for the end, and leaves no process behind.

    ``step`` is told what the guest does. Raises Failure where there is no QEMU, where the guest
    panics, hangs or ends early, with the last lines of its console; KeyboardInterrupt where
    ``stop`` was asked for.
    """
    check_installed()
    if not boot.initramfs.is_file() or not boot.kernel.image.is_file():
        raise Failure("no kernel to boot", where=str(boot.initramfs))
    boot.console.unlink(missing_ok=True)
    said = boot.console.with_suffix(".qemu")
    limit = time.monotonic() + limit_s
    with said.open("wb") as stderr:
        # Where the host's time is not the guest's, the lab is in nobody's way.
        polite = [] if boot.mode is Mode.kvm else ["nice", "-n", "10"]
        guest = Process([*polite, *command(boot)], stderr=stderr)
        try:
            shown = 0
            while guest.poll() is None and time.monotonic() < limit:
                if stop and stop.requested:
                    raise KeyboardInterrupt
                text = console_text(boot.console)
                steps = re.findall(rf"^{STEP}(.*?)\r?$", text, re.MULTILINE) if step else []
                for one in steps[shown:]:
                    if step:
                        step(one)
                shown = len(steps)
                time.sleep(5 * POLL_S)
            code = guest.poll()
        finally:
            guest.end()
    judge(boot, console_text(boot.console), code, console_text(said), limit_s)


def judge(boot: Boot, console: str, code: int | None, said: str, limit_s: float) -> None:
    """Raises Failure unless the guest did all that it was to do; ``code`` None: it was ended."""
    lines = [line.rstrip() for line in console.splitlines() if line.strip()]
    if any(line == DONE for line in lines):
        return
    name, where = f"the guest with {boot.kernel.release} ({boot.kernel.name})", str(boot.console)
    tail = "\n    ".join(lines[-_TAIL_LINES:]) or said.strip()[-600:] or "(nothing)"
    last = f"; the last lines of its console:\n    {tail}"
    if PANIC.search(console) or PANIC.search(said):
        fix = "try another mode: --mode icount" if boot.mode is Mode.kvm else None
        raise Failure(
            f"{name} panicked{last}",
            where=where,
            fix=fix
            or "see the console; to download the kernel again, delete it from "
            f"the cache: {boot.kernel.image.parent}",
        )
    if code is None:
        fix = "run it on a less busy machine (--quick measures least)"
        raise Failure(f"{name} did not end in {limit_s:.0f} s{last}", where=where, fix=fix)
    if not lines and said.strip():
        raise Failure(f"QEMU did not start: {said.strip()[-600:]}", where=QEMU)
    raise Failure(f"{name} ended early ({how_ended(code)}){last}", where=where)


def _quoted(path: Path) -> str:
    """A comma separates QEMU's own options."""
    return str(path).replace(",", ",,")


def console_text(file: Path) -> str:
    """What a guest, or QEMU, has said; nothing where there is no log."""
    try:
        return file.read_bytes().decode(errors="replace")
    except OSError:
        return ""
