# SPDX-License-Identifier: Apache-2.0
"""Whether KVM works here: only a boot tells, for /dev/kvm opens on machines on which none does."""

from __future__ import annotations

import os
from pathlib import Path

from takt.documents.writing import write_bytes
from takt.errors import Failure, Unsupported
from takt.lab import guest, initramfs, jobs
from takt.lab.guest import Boot
from takt.lab.kernels import Kernel
from takt.lab.modes import Mode
from takt.processes import scratch

_REMEDY = "run takt lab without --mode kvm: counting instructions has no requirements on the host"


def trial(kernel: Kernel, device: Path = Path("/dev/kvm")) -> None:
    """Boots a kernel that does nothing, for a limited time; raises Unsupported where that fails."""
    if not os.access(device, os.R_OK | os.W_OK):
        why = "this user has no permission" if device.exists() else "it does not exist"
        raise Unsupported(f"no KVM: {why}", where=str(device), fix=_REMEDY)
    with scratch.temporary() as place:
        image = place / "initramfs"
        write_bytes(image, initramfs.build(kernel.modules, jobs.init([], [], place), [], {}))
        boot = Boot(kernel, Mode.kvm, image, place / "console.log")
        try:
            guest.run(boot, guest.TRIAL_S)
        except Failure as failure:
            what = f"KVM does not work here: {failure.what}"
            raise Unsupported(what, where=str(device), fix=_REMEDY) from None
