# SPDX-License-Identifier: Apache-2.0
"""Another EtherCAT master (SOEM, by pysoem) brings the slaves of an interface to OP and cycles.

Usage: soem_master.py INTERFACE CYCLES; prints one JSON object. In a process of its own, as the
library keeps its state.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys

import pysoem

RECEIVE_US = 100_000
STATE_US = 2_000_000


def main(interface: str, cycles: int) -> None:
    with contextlib.suppress(PermissionError):  # a busy machine would make it miss answers
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    master = pysoem.Master()
    master.open(interface)
    found = master.config_init()
    master.config_map()
    master.config_dc()
    master.state_check(pysoem.SAFEOP_STATE, STATE_US)
    master.send_processdata()
    master.receive_processdata(RECEIVE_US)
    master.state = pysoem.OP_STATE
    master.write_state()
    master.state_check(pysoem.OP_STATE, STATE_US)
    master.read_state()
    operational = sum(one.state == pysoem.OP_STATE for one in master.slaves)
    right = lost = unlike = 0
    before: list[bytes] = []
    for cycle in range(cycles):
        given = [(16 * cycle + place).to_bytes(4, "little") for place in range(found)]
        for one, outputs in zip(master.slaves, given, strict=True):
            one.output = outputs
        master.send_processdata()
        counter = master.receive_processdata(RECEIVE_US)
        if counter != master.expected_wkc:
            lost += 1
            before = []
            continue
        right += 1
        inputs = [one.input for one in master.slaves]
        unlike += bool(before) and inputs != before
        before = given
    print(
        json.dumps(
            {
                "slaves": found,
                "operational": operational,
                "expected_counter": master.expected_wkc,
                "names": [one.name for one in master.slaves],
                "right": right,
                "lost": lost,
                "unlike": unlike,
            }
        )
    )
    master.state = pysoem.INIT_STATE
    master.write_state()
    master.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
