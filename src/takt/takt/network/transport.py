# SPDX-License-Identifier: Apache-2.0
"""The environment of a cell's probes: which transport, which domain, nobody else.

Fast DDS takes its transports from an XML profile. The builtin set is switched off, so that what
the cell's name says is what carries the messages: ``udp`` has no shared memory to fall back on, and
``shm`` no UDP, which Fast DDS would use without a word where /dev/shm has no room. Even its
discovery goes through shared memory then. What is in one ``process`` may have both.

Nobody asks the others for the types of their messages, which ROS 2 knows itself: a process of Fast
DDS 3.2 that ends while it answers such a question may crash.

ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST would do the opposite: rmw_fastrtps then sets up transports
of its own, shared memory among them, and the profile loses. So the range is left to the profile,
which knows only the loopback, or the link between two hosts.

Cyclone DDS, by itself or below ROS 2, takes its interface and its peers from CYCLONEDDS_URI. It
finds others by their addresses alone, as Fast DDS does with this profile: so they find each other.
RustDDS takes an address: on the loopback it looks for others there, elsewhere by multicast.
Zenoh has no discovery here: the active end listens at its address, where the others find it. Below
ROS 2 there is no router either: the first process of a cell has the port of its domain, the others
find it there, and it tells them of each other.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from takt.network import rmw
from takt.network.dds_threads import DdsThreads

SMALLEST_SEGMENT = 4 * 1024 * 1024
MESSAGES_IN_SEGMENT = 16
HEADER_ROOM = 64 * 1024  # for the headers of RTPS and of the message around the payload
LONGEST_PART = 65500  # Fast DDS's default, as users have it: what is longer goes in several parts

PROFILE = "FASTDDS_DEFAULT_PROFILES_FILE"
PROFILE_OF_2 = "FASTRTPS_DEFAULT_PROFILES_FILE"  # the same for Fast DDS 2, which Jazzy has
_FAST_DDS_2 = "libfastrtps.so.2*"
CYCLONE = "CYCLONEDDS_URI"
LOGS = "ROS_LOG_DIR"
RUST = "TAKT_RUSTDDS_ADDRESS"  # of our probe: RustDDS has no configuration of its own
RUST_BUFFER = "TAKT_RUSTDDS_BUFFER"  # in bytes, of each of its sockets
# Settings of the user's shell that would change what is measured.
ICEORYX = "TAKT_ICEORYX2_ROOT"  # of our probe: the folder that names its services
ZENOH_OWN = "TAKT_ZENOH_OWN"  # of our probe: where the active end listens
ZENOH_PEER = "TAKT_ZENOH_PEER"  # and where the other ends find it
ZENOH_CHANGES = "ZENOH_CONFIG_OVERRIDE"  # of rmw_zenoh, to its own configuration of a session
_ZENOH_ROUTER_CHECK = "ZENOH_ROUTER_CHECK_ATTEMPTS"
_ZENOH_PORT = 7500  # and the domain; the routers of others have 7447
_CLEARED = (
    CYCLONE,
    ICEORYX,
    RUST,
    RUST_BUFFER,
    ZENOH_OWN,
    ZENOH_PEER,
    ZENOH_CHANGES,
    "ZENOH_RUNTIME",
    "ZENOH_SESSION_CONFIG_URI",
    "FASTDDS_BUILTIN_TRANSPORTS",
    PROFILE_OF_2,
    "RMW_FASTRTPS_USE_QOS_FROM_XML",
    "ROS_DISCOVERY_SERVER",
    "ROS_LOCALHOST_ONLY",
    "ROS_STATIC_PEERS",
    "ROS_SUPER_CLIENT",
)

_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<dds xmlns="http://www.eprosima.com"><profiles>{shared}
 <transport_descriptors>
{descriptors}
 </transport_descriptors>
 <participant profile_name="takt" is_default_profile="true"><rtps>
  <useBuiltinTransports>false</useBuiltinTransports>
  <userTransports>{names}</userTransports>{discovery}{threads}
  <propertiesPolicy><properties><property>
   <name>fastdds.type_propagation</name><value>disabled</value>
  </property></properties></propertiesPolicy>
 </rtps></participant>
</profiles></dds>
"""
LOOPBACK = "127.0.0.1"
_PEERS = """
  <builtin>
   <initialPeersList>{peers}</initialPeersList>
  </builtin>"""
_PEER = "<locator><udpv4><address>{peer}</address></udpv4></locator>"
_UDP = """  <transport_descriptor><transport_id>udp</transport_id><type>UDPv4</type>
   <sendBufferSize>{buffer}</sendBufferSize><receiveBufferSize>{buffer}</receiveBufferSize>
   <maxInitialPeersRange>{participants}</maxInitialPeersRange>
   <interfaceWhiteList><address>{own}</address></interfaceWhiteList>{threads}
  </transport_descriptor>"""
_CYCLONE = """<CycloneDDS><Domain>
 <General>
  <Interfaces><NetworkInterface address="{own}"/></Interfaces><AllowMulticast>false</AllowMulticast>
 </General>
 <Discovery>
  <ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>{last}</MaxAutoParticipantIndex>
  <Peers><Peer address="{peer}"/></Peers>
 </Discovery>
 <Internal><SocketReceiveBufferSize max="{buffer}B"/></Internal>{threads}
</Domain></CycloneDDS>"""
_SHM = """  <transport_descriptor><transport_id>shm</transport_id><type>SHM</type>
   <maxMessageSize>{message}</maxMessageSize><segment_size>{segment}</segment_size>
   <port_queue_capacity>512</port_queue_capacity>{threads}
  </transport_descriptor>"""


def receive_buffer(payload_bytes: int) -> int:
    """What the sockets of every DDS ask for, in bytes; the kernel grants net.core.rmem_max."""
    return max(SMALLEST_SEGMENT, 2 * (payload_bytes + HEADER_ROOM))


def segment_bytes(payload_bytes: int) -> int:
    """The shared memory that Fast DDS takes for each process of a cell."""
    return max(SMALLEST_SEGMENT, MESSAGES_IN_SEGMENT * (payload_bytes + HEADER_ROOM))


def profile(
    transport: str,
    payload_bytes: int,
    participants: int = 2,
    *,
    own: str = LOOPBACK,
    peer: str | Sequence[str] = LOOPBACK,
    threads: DdsThreads | None = None,
) -> str:
    """The Fast DDS profile for one cell with so many processes.

    ``own`` is the only address that ``udp`` uses here, ``peer`` where it looks for others, one
    address or several; without ``threads`` they inherit.
    """
    in_shm = threads.fast_dds_transport(shared_memory=True) if threads else ""
    in_udp = threads.fast_dds_transport(shared_memory=False) if threads else ""
    shm = _SHM.format(message=LONGEST_PART, segment=segment_bytes(payload_bytes), threads=in_shm)
    udp = _UDP.format(
        buffer=receive_buffer(payload_bytes),
        participants=participants,
        own=own,
        threads=in_udp,
    )
    chosen = {"shm": {"shm": shm}, "udp": {"udp": udp}}.get(transport, {"shm": shm, "udp": udp})
    peers = [peer] if isinstance(peer, str) else peer
    return _PROFILE.format(
        descriptors="\n".join(chosen.values()),
        names="".join(f"<transport_id>{name}</transport_id>" for name in chosen),
        discovery=_PEERS.format(peers="".join(_PEER.format(peer=one) for one in peers))
        if "udp" in chosen
        else "",
        threads=threads.fast_dds_participant() if threads else "",
        shared=threads.fast_dds_factory() if threads else "",
    )


def cyclone(
    payload_bytes: int,
    participants: int = 2,
    *,
    own: str = LOOPBACK,
    peer: str = LOOPBACK,
    threads: DdsThreads | None = None,
) -> str:
    """The configuration of Cyclone DDS for one cell with so many processes, as for ``profile``.

    Fragments are as long as they are for its users.
    """
    buffer = receive_buffer(payload_bytes)
    own_threads = threads.cyclone() if threads else ""
    return _CYCLONE.format(
        own=own, peer=peer, last=participants, buffer=buffer, threads=own_threads
    )


def zenoh_port(domain: int) -> int:
    """Of the first process of a domain's cell, for TCP."""
    return _ZENOH_PORT + domain


def zenoh(domain: int, *, own: str = LOOPBACK, peer: str = LOOPBACK) -> dict[str, str]:
    """The variables of rmw_zenoh for the cell in this domain, as for ``profile``: TCP."""
    port = zenoh_port(domain)
    changes = {
        "mode": '"peer"',
        # All have this configuration: who comes second cannot have the port, and needs another.
        "listen/endpoints": f'["tcp/{own}:{port}","tcp/{own}:0"]',
        "listen/exit_on_failure": "false",
        "connect/endpoints": f'["tcp/{peer}:{port}"]',
        "scouting/multicast/enabled": "false",
        "scouting/gossip/target": '{router:["router","peer"],peer:["router","peer"]}',
    }
    text = ";".join(f"{key}={value}" for key, value in changes.items())
    return {ZENOH_CHANGES: text, _ZENOH_ROUTER_CHECK: "-1"}


def is_fast_dds_2(variables: Mapping[str, str] = os.environ) -> bool:
    """Whether the Fast DDS of this ROS 2 is version 2, which Jazzy has; Kilted has version 3."""
    prefixes = [variables.get("TAKT_ROS_WHEELS", "")]
    prefixes += variables.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    folders = [Path(one, "lib") for one in prefixes if one]
    return any(any(one.glob(_FAST_DDS_2)) or any(one.glob(f"*/{_FAST_DDS_2}")) for one in folders)


def fast_dds(file: Path | str, variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What names a profile to the Fast DDS of this ROS 2; version 3 warns of the other variable."""
    other = {PROFILE_OF_2: str(file)} if is_fast_dds_2(variables) else {}
    return {PROFILE: str(file)} | other


def environment(
    profiles: Mapping[str, str],
    domain: int,
    base: Mapping[str, str] = os.environ,
    *,
    logs: Path | None = None,
) -> dict[str, str]:
    """What the probes of a cell see: the user's environment, made the cell's own.

    ``profiles`` are the middleware's, each by the name of its variable. Every process of rclcpp
    makes a log file; where no folder is named for it, in the user's home.
    """
    implementation = rmw.in_use(base)
    profiled = any(
        implementation.startswith(name) and variable in profiles
        for name, variable in ((rmw.FAST_DDS, PROFILE), ("rmw_cyclonedds", CYCLONE))
    )
    own = {name: value for name, value in base.items() if name not in _CLEARED}
    return (
        own
        | dict(profiles)
        | ({LOGS: str(logs)} if logs else {})
        | {
            "ROS_DOMAIN_ID": str(domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT" if profiled else "LOCALHOST",
        }
    )
