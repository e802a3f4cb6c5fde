# SPDX-License-Identifier: Apache-2.0
"""The certificates by which scheduler, workers and tools know each other.

Whoever reaches a Dask scheduler or worker may have it run any code, so each end shows a certificate
of one authority and asks the other for one. The authority is made when first needed, on the
machine of the scheduler, and signs a certificate for each machine that its user invites. One file
has all that a machine needs, its private key included, so that one thing is copied and guarded.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import socket
import ssl
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from takt.documents.writing import flush
from takt.errors import TaktError
from takt.network import authority

if TYPE_CHECKING:
    from distributed import Security

MACHINE = "machine.pem"  # its key, its certificate, its authority's
AUTHORITY = "authority.key"  # only where machines are invited
_BLOCK = re.compile(r"-----BEGIN ([A-Z ]+)-----\n.*?\n-----END \1-----\n", re.DOTALL)
_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
_INVITE = (
    "on the scheduler's machine: ./takt scheduler invite NAME; then copy NAME.pem here "
    "and run: ./takt scheduler join NAME.pem"
)


@dataclass(frozen=True)
class Identity:
    """What a machine shows to others, and by what it knows them."""

    file: Path
    authority: str

    def security(self) -> Security:
        """For the ends that this process opens: TLS alone, and each end shows a certificate."""
        from distributed import Security

        own = {f"tls_{role}_cert": str(self.file) for role in ("client", "scheduler", "worker")}
        return Security(
            require_encryption=True,
            tls_ca_file=self.authority,
            tls_min_version=ssl.TLSVersion.TLSv1_3,
            **own,
        )

    def environment(self) -> dict[str, str]:
        """The same for a Dask program."""
        comm = "DASK_DISTRIBUTED__COMM__"
        return {
            f"{comm}REQUIRE_ENCRYPTION": "True",
            f"{comm}TLS__MIN_VERSION": "1.3",
            f"{comm}TLS__CA_FILE": self.authority,
            f"{comm}TLS__WORKER__CERT": str(self.file),
        }


def folder() -> Path:
    """Where a user keeps them."""
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "takt" / "workers"


def known() -> Identity:
    """What this machine has; raises TaktError where it was not invited yet."""
    if not (folder() / MACHINE).exists():
        raise TaktError("this machine has no certificate", where=str(folder()), fix=_INVITE)
    _check_private(folder(), stat.S_ISDIR)
    return _read(folder() / MACHINE)


def own() -> Identity:
    """What this machine has; an authority is made where there is nothing yet."""
    with _locked_folder() as place:
        if not (place / MACHINE).exists():
            _make(place)
    return known()


def temporary(place: Path) -> Identity:
    """An authority for one run, in a folder that is nobody else's."""
    _make(place)
    return _read(place / MACHINE)


def invite(name: str, target: Path) -> None:
    """Writes the file by which another machine joins this one's."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    from cryptography.x509 import load_pem_x509_certificate

    if not _NAME.fullmatch(name):
        raise TaktError(
            f"invalid machine name {name!r}",
            where="NAME",
            fix="use letters, digits, - _ and .",
        )
    here = own()
    key_file = folder() / AUTHORITY
    if not key_file.exists():
        raise TaktError(
            "this machine joined another authority and cannot invite",
            where=str(folder()),
            fix="run ./takt scheduler invite on the machine that invited this one",
        )
    _check_private(key_file, stat.S_ISREG)
    try:
        key = load_pem_private_key(key_file.read_bytes(), None)
        certificate = load_pem_x509_certificate(here.authority.encode())
    except ValueError as error:
        raise _damaged(key_file, str(error)) from None
    if key.public_key() != certificate.public_key():
        raise _damaged(key_file, "this is not the key of this machine's authority")
    content = authority.for_machine(name, key, certificate)  # type: ignore[arg-type]
    try:
        _write(target, content)
    except FileExistsError:
        raise TaktError(
            "this file exists",
            where=str(target),
            fix="delete it, or use it to join; one file per invited machine is enough",
        ) from None


def join(invitation: Path) -> Path:
    """Keeps what another machine's ``invite`` has written; returns where."""
    if not invitation.is_file():
        raise TaktError("no such file", where=str(invitation), fix=_INVITE)
    _check_private(invitation, stat.S_ISREG)
    _read(invitation)
    with _locked_folder() as place:
        if (place / AUTHORITY).exists():
            raise TaktError(
                "this machine has its own authority; joining another one would invalidate "
                "its invitations",
                where=str(place),
                fix=f"if it is unused: rm -r {place}",
            )
        _replace(place / MACHINE, invitation.read_bytes())
    return place / MACHINE


def _read(file: Path) -> Identity:
    """A machine's file; raises TaktError where it is not whole, or not its user's alone."""
    _check_private(file, stat.S_ISREG)
    text = file.read_text(encoding="ascii", errors="replace")
    blocks = {kind: [m[0] for m in _BLOCK.finditer(text) if m[1] == kind] for kind in _KINDS}
    if [len(blocks[kind]) for kind in _KINDS] != [1, 2]:
        raise _damaged(file, "it must contain one key and two certificates")
    try:
        context = ssl.create_default_context(cadata=blocks["CERTIFICATE"][1])
        context.load_cert_chain(file)
    except ssl.SSLError as error:
        raise _damaged(file, str(error)) from None
    return Identity(file.absolute(), blocks["CERTIFICATE"][1])


_KINDS = ("PRIVATE KEY", "CERTIFICATE")


def _damaged(file: Path, why: str) -> TaktError:
    return TaktError(f"not a machine certificate: {why}", where=str(file), fix=_INVITE)


def _check_private(path: Path, kind: Any) -> None:
    """Raises TaktError unless it is of the kind, and this user's alone to read and write."""
    found = path.lstat()
    if not kind(found.st_mode):
        raise TaktError(
            "expected a file or folder of keys, found a link or something else",
            where=str(path),
            fix="replace it with the file or folder itself",
        )
    if found.st_uid != os.geteuid():
        raise TaktError(
            f"it belongs to user {found.st_uid}, who could use or change these keys",
            where=str(path),
            fix="copy it as the user of this command",
        )
    if found.st_mode & 0o077:
        mode = "600" if stat.S_ISREG(found.st_mode) else "700"
        raise TaktError(
            f"other users can use or change these keys (mode {stat.S_IMODE(found.st_mode):o})",
            where=str(path),
            fix=f"chmod {mode} {path}; if other users have read it: rm -r {folder()}, and "
            "invite again",
        )


@contextlib.contextmanager
def _locked_folder() -> Iterator[Path]:
    """The folder, made where it is not there; two that make an authority at once make one."""
    place = folder()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check_private(place, stat.S_ISDIR)
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield place
    finally:
        os.close(descriptor)


def _make(place: Path) -> None:
    """An authority, and this machine's certificate of it, which is written last."""
    key, certificate = authority.new()
    _replace(place / AUTHORITY, authority.pem(key))
    _replace(
        place / MACHINE,
        authority.for_machine(socket.gethostname()[:63] or "here", key, certificate),
    )


def _replace(file: Path, content: bytes) -> None:
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        _write(temporary, content)
        temporary.replace(file)
        flush(file.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _write(file: Path, content: bytes) -> None:
    """Into a new file, which is never anybody else's to read; raises FileExistsError."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as opened:  # noqa: PTH123 - no path, a descriptor
        os.fchmod(descriptor, 0o600)
        opened.write(content)
        opened.flush()
        os.fsync(descriptor)
