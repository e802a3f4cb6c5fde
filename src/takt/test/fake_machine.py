# SPDX-License-Identifier: Apache-2.0
"""A machine that is not this one, for tests: a tree of files, and what is no file as attributes."""

from __future__ import annotations

from takt.doctor import System, findings
from takt.doctor.finding import Finding
from takt.machine.system import Space, Window

QUIET = Window(seconds=0.3, busy=0.02, steal=0.0)


class Fake(System):
    """A machine made of files."""

    fifo_error = 0
    usable_cpus: frozenset[int] = frozenset(range(64))
    allowed_cpus: frozenset[int] | None = None  # None: those of the test itself
    shared_memory = Space(total=8 << 30, free=8 << 30)
    window = QUIET

    def try_fifo(self, priority: int = 1) -> int:
        return self.fifo_error

    def try_cpu(self, cpu: int) -> bool:
        return cpu in self.usable_cpus

    def affinity(self) -> set[int]:
        return super().affinity() if self.allowed_cpus is None else set(self.allowed_cpus)

    def scheduling(self, pid: int) -> tuple[int, int]:
        """From the fields of proc(5) that no test leaves to the real kernel: 41 and 40."""
        fields = (self.text(f"/proc/{pid}/stat") or "").rpartition(") ")[2].split()
        if len(fields) < 39:
            raise ProcessLookupError(pid)
        return int(fields[38]), int(fields[37])

    def space(self, path: str) -> Space | None:
        return self.shared_memory

    def put(self, files: dict[str, str | bytes]) -> Fake:
        for name, content in files.items():
            path = self.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return self

    def finding(self, name: str) -> Finding:
        return next(finding for finding in findings(self) if finding.id == name)
