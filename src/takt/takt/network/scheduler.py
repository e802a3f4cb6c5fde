# SPDX-License-Identifier: Apache-2.0
"""Where the Dask scheduler is, and whether it may be talked to; and our own one.

It passes on whatever code it is given, and so do its workers. So our own speaks TLS alone, to
whoever has a certificate of its authority (certificates.py). Plain TCP is for a Dask scheduler
of the user's own on this machine, never beyond loopback.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import re
import signal
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass

from takt.errors import Failure, TaktError
from takt.network import certificates
from takt.network.certificates import Identity

PORT = 8786
LOOPBACK = "127.0.0.1"
START = "./takt scheduler"
ANSWER_S = 10.0  # until it counts as not there
GREET_S = 30.0  # for one that is there, on a machine that does much else, to speak its protocol
# Dask's pages beside the protocol: none of them asks who is there.
NO_PAGES = {"DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES": "[]"}
NO_PAGES |= {"DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]"}
PAGES_AT = f"{LOOPBACK}:0"  # Dask opens the port all the same


@dataclass(frozen=True)
class Found:
    """A scheduler that answers."""

    address: str
    identity: Identity | None  # ours, by which it is talked to; None: plain TCP on this machine
    own_address: str  # of this machine, on the way to it


def find(text: str, where: str) -> Found:
    """The scheduler at an address; raises TaktError where it is unsafe, or there is none."""
    known = re.fullmatch(r"(tcp|tls)://(\[[0-9A-Fa-f:.%\w]+\]|[^\s/:]+):([0-9]{1,5})", text)
    if known is None:
        raise TaktError(
            f"invalid scheduler address {text!r}",
            where=where,
            fix=f"give protocol, host and port, such as tls://desk:{PORT}; {START} prints it",
        )
    host, port = known[2].strip("[]"), int(known[3])
    if known[1] == "tcp":
        check_loopback(host, where)
        with _reached(text, host, port, where) as way:
            _greeted(way, text, where)
            return Found(_answering(way), None, str(way.getsockname()[0]))
    identity = certificates.known()
    with _reached(text, host, port, where) as way:
        context = identity.security().get_connection_args("client")["ssl_context"]
        _shake_hands(context, way, text, where, identity)
        return Found(text, identity, str(way.getsockname()[0]))


def _answering(way: socket.socket) -> str:
    """By number: a name could lead elsewhere the next time."""
    host, port = way.getpeername()[:2]
    return f"tcp://[{host}]:{port}" if ":" in host else f"tcp://{host}:{port}"


def is_loopback(host: str) -> bool:
    """Whether all addresses of a host are this machine's alone; False where it has none."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return all(ipaddress.ip_address(str(one[4][0]).split("%")[0]).is_loopback for one in found)


def check_loopback(host: str, where: str) -> None:
    """Raises TaktError where plain TCP would leave this machine."""
    if is_loopback(host):
        return
    raise TaktError(
        f"tcp://{host} is not on this machine: without encryption and authentication, "
        "every machine in that network could run code here",
        where=where,
        fix=f"start the scheduler there with {START} --address {host}, invite this machine "
        f"(./takt scheduler invite NAME), and use its address, tls://{host}:{PORT}",
    )


def _reached(text: str, host: str, port: int, where: str) -> socket.socket:
    try:
        way = socket.create_connection((host, port), ANSWER_S)
    except (OSError, OverflowError, UnicodeError) as error:
        raise TaktError(
            f"no scheduler answers at {text}: {error}",
            where=where,
            fix=f"start it first: {START}; and check that the network does not block its port",
        ) from None
    way.settimeout(GREET_S)
    return way


def _greeted(way: socket.socket, text: str, where: str) -> None:
    """Dask speaks first; a worker of what does not would wait for ever."""
    with contextlib.suppress(OSError):
        if way.recv(1):
            return
    raise TaktError(
        f"the program at {text} is not a Dask scheduler over plain TCP",
        where=where,
        fix=f"an address of {START} starts with tls://",
    )


def _shake_hands(
    context: ssl.SSLContext, way: socket.socket, text: str, where: str, identity: Identity
) -> None:
    """Says which of the two has the wrong certificate, which Dask does not."""
    try:
        with context.wrap_socket(way.dup()):
            return
    except ssl.SSLCertVerificationError as error:
        raise TaktError(
            f"the scheduler at {text} has no certificate that this machine trusts: "
            f"{error.verify_message}",
            where=where,
            fix=f"{identity.file} belongs to another authority, or a clock is wrong: invite "
            "this machine on the scheduler's machine (./takt scheduler invite NAME), then "
            "here: ./takt scheduler join NAME.pem",
        ) from None
    except OSError as error:
        raise TaktError(
            f"the program at {text} does not use TLS: {getattr(error, 'reason', None) or error}",
            where=where,
            fix=f"start the scheduler with {START}, and use the address that it prints",
        ) from None


def serve(host: str, port: int, announce: Callable[[str], None]) -> None:
    """Runs a scheduler until Ctrl-C or SIGTERM; tells its address once it is there."""
    identity = certificates.own()
    asyncio.run(_serve(host, port, identity, announce))


async def _serve(host: str, port: int, identity: Identity, announce: Callable[[str], None]) -> None:
    from distributed import Scheduler

    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    scheduler = Scheduler(
        protocol="tls",
        host=host,
        port=port,
        security=identity.security(),
        dashboard=False,
        dashboard_address=PAGES_AT,
    )
    try:
        await scheduler
    except (OSError, RuntimeError) as error:
        raise _not_started(host, port, error) from None
    try:
        announce(str(scheduler.address))
        await ended.wait()
    finally:
        with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
            await asyncio.wait_for(scheduler.close(), ANSWER_S)


def _not_started(host: str, port: int, error: BaseException) -> Failure:
    reason: BaseException = error
    while reason.__cause__ is not None:
        reason = reason.__cause__
    return Failure(
        f"the scheduler does not start: {reason}",
        where=f"{host}:{port}",
        fix="use an address of this machine (listed by ip address) and a free --port",
    )
