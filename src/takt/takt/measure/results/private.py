# SPDX-License-Identifier: Apache-2.0
"""What identifies a computer or its user, and what stands for it in a run that is shared.

Names of the computer and of its user, the home directories, the folder of the run, addresses (IP,
MAC), serial numbers and UUIDs. An address or UUID has the same stand-in wherever it occurs, so that
a reader still sees which ones are equal.
"""

from __future__ import annotations

import contextlib
import getpass
import ipaddress
import os
import pwd
import re
import socket
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from takt.measure.results.model import Run

LEAST_NAME = 3  # letters: a shorter name would be replaced inside of other words
LEAST_SERIAL = 6
COMMON = frozenset({"root", "user", "localhost", "computer"})  # identify nobody
SERIAL_NUMBERS = (
    "/etc/machine-id",
    "/proc/device-tree/serial-number",
    "/sys/class/dmi/id/board_serial",
    "/sys/class/dmi/id/chassis_asset_tag",
    "/sys/class/dmi/id/chassis_serial",
    "/sys/class/dmi/id/product_serial",
    "/sys/class/dmi/id/product_uuid",
)
_HOME = re.compile(r"/home/[^/\s\"'\\:;,]+")
_WORKER = re.compile(r"((?:tls|tcp)://)(?!\[)[^\s:/\"'\\]+")
_UUID = re.compile(r"(?<![\w-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\w-])")
_MAC = re.compile(r"(?<![\w:-])[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\1){4}[0-9a-fA-F]{2}(?![\w:])")
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\w)")
_IPV6 = re.compile(r"(?<![\w:.])(?=[0-9a-fA-F:.]*:[0-9a-fA-F:.]*:)[0-9a-fA-F:]+(?:\.\d+)*(?![\w:])")
_ADDRESSES = (
    (_UUID, "uuid"),
    (_MAC, "mac-address"),
    (_IPV6, "address"),
    (_IPV4, "address"),
)


class Cleaner:
    """Replaces what is private in texts of one run."""

    def __init__(self, folder: Path, releases: Iterable[str] = ()) -> None:
        """Of the run in a folder; ``releases`` of kernels stay, some of which look like addresses.

        Reads the names of this computer and of this user.
        """
        self._replaced = list(_patterns(folder))
        self._releases = tuple(releases)
        self._numbers: dict[str, str] = {}

    def cleaned(self, text: str) -> str:
        """The text without what is private."""
        for pattern, by in self._replaced:
            text = pattern.sub(by, text)
        text = _WORKER.sub(self._host, text)
        for pattern, kind in _ADDRESSES:
            text = pattern.sub(self._numbered(kind), text)
        return text

    def _host(self, found: re.Match[str]) -> str:
        host = found.group().removeprefix(found.group(1))
        return found.group() if _IPV4.fullmatch(host) else f"{found.group(1)}host"

    def _numbered(self, kind: str) -> Callable[[re.Match[str]], str]:
        def by(found: re.Match[str]) -> str:
            text = found.group()
            if kind == "address" and (_public(text) or any(text in one for one in self._releases)):
                return text
            like = sum(one.startswith(f"{kind}-") for one in self._numbers.values())
            return self._numbers.setdefault(text.lower(), f"{kind}-{like + 1}")

        return by


def releases(run: Run) -> list[str]:
    """The kernels of a run's machines."""
    machines = (run.machine, *run.hosts.values())
    return [str(one["kernel"]) for one in machines if one.get("kernel")]


def _public(text: str) -> bool:
    """Whether it is no address, or one that every computer has."""
    if ":" in text and not any(map(str.isdigit, text)):
        return True  # letters around colons are names of C++
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return True
    return found.is_loopback or found.is_unspecified


def _patterns(folder: Path) -> Iterator[tuple[re.Pattern[str], str]]:
    """Paths first, which names are a part of; the longest first, which contain others."""
    paths = {str(folder.resolve()): ".", str(folder): "."}
    paths |= dict.fromkeys(_homes(), "~")
    for path in sorted(paths, key=len, reverse=True):
        if len(path) > 1:
            yield re.compile(rf"(?<![\w.-]){re.escape(path)}(?![\w.-])"), paths[path]
    yield _HOME, "~"
    names = dict.fromkeys(_computer(), "computer") | dict.fromkeys(_users(), "user")
    for name in sorted(names, key=len, reverse=True):
        if len(name) >= LEAST_NAME and name not in COMMON:
            yield re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])"), names[name]
    for serial in _serial_numbers():
        yield re.compile(rf"(?<!\w){re.escape(serial)}(?!\w)"), "serial-number"


def _computer() -> set[str]:
    name = socket.gethostname()
    return {name, name.partition(".")[0]}


def _accounts() -> Iterator[pwd.struct_passwd]:
    """This user's, and that of the one who became root by sudo."""
    with contextlib.suppress(KeyError):
        yield pwd.getpwuid(os.getuid())
    with contextlib.suppress(KeyError):
        yield pwd.getpwnam(os.environ["SUDO_USER"])


def _users() -> set[str]:
    names = {one.pw_name for one in _accounts()}
    names |= {one.pw_gecos.partition(",")[0] for one in _accounts()}
    with contextlib.suppress(Exception):  # getpass has another exception in each version
        names.add(getpass.getuser())
    return names


def _homes() -> set[str]:
    return {str(Path.home()), *(one.pw_dir for one in _accounts())}


def _serial_numbers() -> Iterator[str]:
    for place in SERIAL_NUMBERS:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            serial = Path(place).read_text(encoding="utf-8").strip("\0 \n")
            if len(serial) >= LEAST_SERIAL and any(map(str.isdigit, serial)):
                yield serial
