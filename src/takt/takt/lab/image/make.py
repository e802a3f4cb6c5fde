# SPDX-License-Identifier: Apache-2.0
"""The image: kernel, root, menu and experiments on one disk, which is a file in the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from takt.documents.writing import check_room, failure, no_space, replacing
from takt.errors import Failure, TaktError
from takt.lab.image import content, disk, target
from takt.lab.kernels import Kernel
from takt.lab.model import SCHEMA_VERSION
from takt.processes import scratch

KERNEL, ROOT = "boot/vmlinuz", "boot/root.zst"
_OTHER_DISK = "free space there, or choose a file on another disk: --out"
_LEVEL = 3  # of zstd: 130 MB in seconds; the highest level saves a tenth
_MENU_S = 5
# The last word: on a busy host an emulator fails the kernel's test of the timer's interrupt, made
# for boards from before 2010.
_WORDS = "console=ttyS0,115200 console=tty0 quiet loglevel=4 no_timer_check"


class Made(BaseModel):
    """What ``takt lab image --json`` prints."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int = SCHEMA_VERSION
    image: str
    bytes: int  # of the whole disk; the file has holes
    used: int  # by what lies on it
    in_memory: int  # of the target, before it measures anything
    kernel: str  # as uname says it
    experiment: str  # that it runs when nobody chooses
    experiments: list[str]
    stacks: list[str]


def make(
    out: Path,
    kernel: Kernel,
    experiments: Mapping[str, bytes],
    default: str,
    announce: Callable[[str], None],
) -> Made:
    """Writes the image; ``experiments`` are files by their names. Raises Failure."""
    disk.check_tools()
    import pyarrow

    announce("collecting the tool, its probes and their libraries")
    root = content.root(kernel).packed()
    announce("packing them")
    packed: bytes = pyarrow.Codec("zstd", compression_level=_LEVEL).compress(root, asbytes=True)
    tree = {
        KERNEL: kernel.image.read_bytes(),
        ROOT: packed,
        "boot/grub/grub.cfg": menu(sorted(experiments, key=lambda one: (one != default, one))),
        "README.TXT": _README.encode(),
        **{f"{target.EXPERIMENTS}/{name}.yaml": text for name, text in experiments.items()},
    }
    announce("writing the disk")
    used = sum(map(len, tree.values()))
    if scratch.free_bytes(out.parent) < 2 * used:  # a file at a time lies there before it is on it
        raise Failure(no_space(out), where=str(out), fix=_OTHER_DISK)
    try:
        with scratch.temporary(out.parent) as staging, replacing(out) as file:
            disk.write(file, tree, staging)
            size = file.stat().st_size
    except OSError as error:
        raise failure(error, _OTHER_DISK) from None
    return Made(
        image=str(out),
        bytes=size,
        used=used,
        in_memory=len(root),
        kernel=kernel.release,
        experiment=default,
        experiments=sorted(experiments),
        stacks=content.stacks_inside(),
    )


def check_place(out: Path) -> None:
    """Raises TaktError where an image cannot become what it is named, before minutes of work."""
    if out.is_dir():
        raise TaktError("the image must be a file; this is a folder", where=str(out))
    if out.exists() and not out.is_file():
        fix = f"write a file, then: sudo dd if=takt.img of={out} bs=4M conv=fsync"
        raise TaktError("cannot write an image directly to a device", where=str(out), fix=fix)
    if not out.parent.is_dir():
        raise TaktError("no such folder", where=str(out.parent))
    check_room(out.parent, _OTHER_DISK)


def menu(names: list[str]) -> bytes:
    """GRUB's: one entry an experiment, the first is the default; a shell."""
    entries = [(f"Run {name}", f"{target.EXPERIMENT}={name}") for name in names]
    parts = [_HEAD, *(_entry(*one) for one in [*entries, ("A shell", "")])]
    return "\n".join(parts).encode()


def _entry(title: str, word: str) -> str:
    line = f"linux /{KERNEL} {_WORDS} {word}".rstrip()
    return f"menuentry '{title}' {{\n    {line}\n    initrd /{ROOT}\n}}"


_HEAD = f"""set timeout={_MENU_S}
set default=0
set gfxpayload=keep
# UEFI puts its console onto serial lines by itself.
if [ "$grub_platform" = pc ]; then
    serial --unit=0 --speed=115200
    terminal_input console serial
    terminal_output console serial
fi
"""
_README = f"""This stick boots a PC into Linux with PREEMPT_RT, and measures with Takt.\r
\r
{target.EXPERIMENTS}: experiments; add your own, and choose it with
{target.EXPERIMENT}=NAME: press e in the menu.\r
{target.RESULTS}: one folder a run; copy it, and open it with: takt report FOLDER\r
{target.LOG}: what the last boot said.\r
"""
