# SPDX-License-Identifier: Apache-2.0
"""The rate of a link's end, and whether messages wait behind other traffic there.

One queue for all is a token bucket. With a class of their own (htb), messages leave first: half of
the rate is theirs, and as much of the rest as they want. They are known by the DSCP that their
probes give to their sockets, as a switch on the way would know them.

Where other traffic is limited, it has no more than half of the rate, and nothing leaves first.
Messages need no mark then: other traffic is what goes over IPv6.

Messages with a time (the transport ``txtime``) wait in etf, "earliest txtime first" (tc-etf), and
have the priority by which prio leads them there: etf drops what has no time.
"""

from __future__ import annotations

import re

SHARED, OWN, LIMITED = "shared", "own", "limited"
TXTIME = "txtime"  # the transport of messages with times
SHARE = 0.5  # of the rate that limited traffic may have
DSCP = 46  # of the messages then: expedited forwarding (RFC 3246)
_OF_MESSAGES, _OF_OTHERS = "1:10", "1:20"
_BURST_S = 0.00032  # what may leave at once, as time at the rate: 32 kbit at 100 Mbit/s
_LEAST_BURST = 4000  # bytes; a frame fits twice
_WAIT_S = 0.05  # what waits longer is dropped
# From so long before a packet's time on, etf lets it go; after its time it is dropped. The probe
# knows the same numbers (timed_udp_link.cpp).
_WINDOW_NS = 500_000
_PRIORITY = 6
_SENT = re.compile(r"Sent ([0-9]+) bytes")


def commands(interface: str, bits_per_s: int, queue: str) -> list[list[str]]:
    """The calls of tc, in their order."""
    rate, half = f"{bits_per_s}bit", f"{bits_per_s // 2}bit"
    burst = str(max(_LEAST_BURST, round(bits_per_s * _BURST_S / 8)))
    device = ["dev", interface]
    if queue == SHARED:
        bucket = ["tbf", "rate", rate, "burst", burst, "latency", f"{_WAIT_S * 1e3:g}ms"]
        return [["tc", "qdisc", "add", *device, "root", "handle", "1:", *bucket]]
    rest = (_OF_MESSAGES if queue == LIMITED else _OF_OTHERS).partition(":")[2]
    all_of_it = ["htb", "rate", rate, "burst", burst, "cburst", burst, "quantum", "1514"]
    classes = [
        ["tc", "qdisc", "add", *device, "root", "handle", "1:", "htb", "default", rest],
        ["tc", "class", "add", *device, "parent", "1:", "classid", "1:1", *all_of_it],
    ]
    for number, name in enumerate((_OF_MESSAGES, _OF_OTHERS)):
        most = half if queue == LIMITED and name == _OF_OTHERS else rate
        priority = number if queue == OWN else 0
        part = ["htb", "rate", half, "ceil", most, "burst", burst, "cburst", burst]
        part += ["quantum", "1514", "prio", str(priority)]
        limit = str(max(_LEAST_BURST, round(bits_per_s * _WAIT_S / 8)))
        classes += [
            ["tc", "class", "add", *device, "parent", "1:1", "classid", name, *part],
            ["tc", "qdisc", "add", *device, "parent", name, "bfifo", "limit", limit],
        ]
    match = ["protocol", "ip", "u32", "match", "ip", "dsfield", hex(DSCP << 2), "0xfc"]
    match += ["flowid", _OF_MESSAGES]
    if queue == LIMITED:
        match = ["protocol", "ipv6", "u32", "match", "u32", "0", "0", "flowid", _OF_OTHERS]
    return [*classes, ["tc", "filter", "add", *device, "parent", "1:", *match]]


def at_times(interface: str, *place: str) -> list[list[str]]:
    """The calls of tc for a queue where messages leave at their times, and all others past them.

    ``place``: "parent" and the class of another queue, or "root".
    """
    bands = ["0" if priority == _PRIORITY else "1" for priority in range(16)]
    new = ["tc", "qdisc", "add", "dev", interface]
    etf = ["etf", "clockid", "CLOCK_TAI", "delta", str(_WINDOW_NS)]
    return [
        [*new, *place, "handle", "2:", "prio", "bands", "2", "priomap", *bands],
        [*new, "parent", "2:1", *etf],
    ]


def show(interface: str) -> list[str]:
    """The call of tc that tells what the class of the messages has sent."""
    return ["tc", "-s", "class", "show", "dev", interface, "classid", _OF_MESSAGES]


def sent(shown: str) -> int:
    """The bytes in its answer; 0 where there is no such class."""
    found = _SENT.search(shown)
    return int(found[1]) if found else 0
