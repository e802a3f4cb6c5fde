# SPDX-License-Identifier: Apache-2.0
"""A machine that is not this one, for tests: a tree of files, and what is no file as attributes."""

from __future__ import annotations

from takt.doctor import System, findings
from takt.doctor.finding import Finding
from takt.doctor.system import Space, Window

QUIET = Window(seconds=0.3, busy=0.02, steal=0.0)


class Fake(System):
    """A machine made of files."""

    fifo_error = 0
    usable_cpus: frozenset[int] = frozenset(range(64))
    shared_memory = Space(total=8 << 30, free=8 << 30)
    window = QUIET

    def try_fifo(self, priority: int = 1) -> int:
        return self.fifo_error

    def try_cpu(self, cpu: int) -> bool:
        return cpu in self.usable_cpus

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
