# SPDX-License-Identifier: Apache-2.0
"""A machine that tune may change: a tree of files, with all kinds of places, that can be killed.

What is no file on a real machine is one here: the scheduling of a thread is its line of proc(5),
swap areas are /proc/swaps. Every step, of the machine and of the journal, can be the last.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_machine import Fake

from takt.documents import writing
from takt.machine.writable import WritableSystem

CPU = "/sys/devices/system/cpu"
JOURNAL = "/var/lib/takt/tune.json"


def stat(pid: int, name: str, scheduling: str, *, start: int = 7, flags: int = 69238848) -> str:
    """A line of proc(5): of a thread of the kernel, with its priority and policy."""
    return f"{pid} ({name}) S 2 0 0 0 -1 {flags} {'0 ' * 12}{start} {'0 ' * 15}-1 8 {scheduling}\n"


def thread(pid: int, name: str, scheduling: str = "0 0", start: int = 7) -> dict[str, str]:
    line = stat(pid, name, scheduling, start=start)
    return {f"/proc/{pid}/comm": f"{name}\n", f"/proc/{pid}/stat": line}


FILES: dict[str, str | bytes] = {
    "/proc/sys/kernel/random/boot_id": "11111111-aaaa\n",
    "/proc/self/status": "CapEff:\t000001ffffffffff\n",
    "/proc/self/cgroup": "0::/user.slice/one.scope\n",
    "/proc/sys/kernel/osrelease": "6.8.0-45-generic\n",
    "/proc/sys/kernel/version": "#45-Ubuntu SMP PREEMPT_DYNAMIC\n",
    "/proc/sys/kernel/sched_rt_runtime_us": "950000\n",
    "/proc/sys/kernel/sched_rt_period_us": "1000000\n",
    "/proc/sys/kernel/timer_migration": "1\n",
    "/proc/sys/kernel/nmi_watchdog": "1\n",
    "/proc/sys/kernel/soft_watchdog": "1\n",
    "/proc/sys/kernel/sched_autogroup_enabled": "1\n",
    "/proc/sys/kernel/numa_balancing": "1\n",
    "/proc/sys/net/core/rmem_max": "212992\n",
    "/proc/sys/net/core/wmem_max": "212992\n",
    "/sys/kernel/debug/sched/preempt": "none (voluntary) full\n",
    "/sys/kernel/debug/sched/fair_server/cpu0/runtime": "50000000\n",
    "/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
    "/sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet\n",
    "/sys/devices/system/node/online": "0-1\n",
    f"{CPU}/online": "0-3\n",
    f"{CPU}/isolated": "\n",
    **{f"{CPU}/cpu{cpu}/cpufreq/scaling_governor": "powersave\n" for cpu in range(4)},
    f"{CPU}/cpu0/cpufreq/scaling_available_governors": "performance powersave\n",
    f"{CPU}/cpu0/cpuidle/state1/latency": "2\n",
    f"{CPU}/cpu0/cpuidle/state1/disable": "0\n",
    f"{CPU}/cpu0/cpuidle/state3/latency": "890\n",
    f"{CPU}/cpu0/cpuidle/state3/disable": "0\n",
    "/proc/irq/default_smp_affinity": "f\n",
    "/proc/irq/9/smp_affinity_list": "0-3\n",
    "/proc/irq/9/effective_affinity_list": "3\n",
    "/proc/irq/9/nvme0/.keep": "",
    "/proc/irq/31/smp_affinity_list": "3\n",
    "/proc/irq/31/effective_affinity_list": "3\n",
    "/proc/irq/31/eth0/.keep": "",
    "/proc/irq/40/smp_affinity_list": "0-3\n",  # nobody handles it
    "/sys/class/net/eth0/device/msi_irqs/31": "",
    **thread(14, "ksoftirqd/0"),
    **thread(22, "ksoftirqd/1"),
    **thread(50, "irq/31-eth0", "50 1"),
    **thread(51, "irq/9-nvme0", "50 1"),
    "/sys/fs/cgroup/cgroup.controllers": "cpuset cpu memory\n",
    "/sys/fs/cgroup/cgroup.subtree_control": "cpu memory\n",
    "/sys/fs/cgroup/system.slice/cgroup.procs": "",
    "/sys/fs/cgroup/user.slice/cgroup.procs": "",
    "/proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable: 9000000 kB\n"
    "SwapTotal: 2000000 kB\nSwapFree: 1500000 kB\n",
    "/proc/swaps": "Filename Type Size Used Priority\n"
    "/dev/sda2 partition 1000000 0 -2\n/swap\\040file file 1000000 500000 5\n",
    "/dev/sda2": "",
    "/swap file": "",
    "/etc/security/limits.conf": "# nothing\n",
    "/etc/security/limits.d/.keep": "",
}


class SyntheticMachine(Fake, WritableSystem):
    """Its kernel answers as Linux does: in other words than it takes, and with side effects."""

    step: Callable[[], None] = staticmethod(lambda: None)
    refuses: dict[str, int] = {}  # noqa: RUF012 - replaced, not changed

    def write(self, path: str, content: bytes) -> None:
        self.step()
        if number := self.refuses.get(path):
            raise OSError(number, os.strerror(number), path)
        text = content.decode("latin-1").strip()
        if path.endswith(("/preempt", "/enabled")):
            words = [one.strip("[]()") for one in self._old(path).split()]
            left, right = "()" if path.endswith("/preempt") else "[]"
            text = " ".join(f"{left}{one}{right}" if one == text else one for one in words)
        if path.endswith("/cgroup.procs"):
            self._join(path, text)
            self.step()
            return
        if path.endswith("cgroup.subtree_control"):
            text = self._controllers(path, text)
        if path.endswith("/smp_affinity_list"):
            self._interrupt(path, text)
        self.put({path: f"{text}\n"})
        self.step()

    def _old(self, path: str) -> str:
        return self.path(path).read_text()

    def _controllers(self, path: str, change: str) -> str:
        words = [one for one in self._old(path).split() if one != change[1:]]
        for name in ("system.slice", "user.slice"):
            file = self.path(f"/sys/fs/cgroup/{name}/cpuset.cpus")
            if change == "+cpuset":
                file.write_text("\n")
            else:
                file.unlink(missing_ok=True)
        return " ".join(sorted([*words, change[1:]] if change[0] == "+" else words))

    def _interrupt(self, path: str, allowed: str) -> None:
        """It stays where it may; else it goes to the first CPU."""
        file = path.replace("smp_affinity_list", "effective_affinity_list")
        cpus = self.__class__(self.root).cpus(file) or set()
        first, _, last = allowed.partition("-")
        if not cpus <= set(range(int(first), int(last or first) + 1)):
            self.put({file: f"{first}\n"})

    def make_folder(self, path: str) -> None:
        self.step()
        super().make_folder(path)
        if path.startswith("/sys/fs/cgroup/"):
            names = ["cgroup.procs", "cpuset.mems", "cpuset.cpus"]
            names += ["cpuset.cpus.partition"] * self.exists("/sys/fs/cgroup/cgroup.controllers")
            self.put({f"{path}/{name}": "\n" for name in names})
        self.step()

    def remove_folder(self, path: str) -> None:
        self.step()
        if number := self.refuses.get(path) or (self._old(f"{path}/cgroup.procs").split() and 16):
            raise OSError(number, os.strerror(number), path)
        for file in self.path(path).iterdir():
            file.unlink()
        super().remove_folder(path)
        self.step()

    def _join(self, path: str, pid: str) -> None:
        """Whoever enters a group leaves the other."""
        for file in self.glob("/sys/fs/cgroup/**/cgroup.procs"):
            there = [one for one in self._old(file).split() if one != pid]
            there += [pid] if file == path else []
            self.put({file: "".join(f"{one}\n" for one in sorted(there, key=int))})

    def set_scheduling(self, pid: int, policy: int, priority: int) -> None:
        self.step()
        if number := self.refuses.get(f"thread {pid}"):
            raise OSError(number, os.strerror(number))
        file = self.path(f"/proc/{pid}/stat")
        words = file.read_text().split()
        file.write_text(" ".join([*words[:-2], str(priority), str(policy)]) + "\n")
        self.step()

    def swap_off(self, path: str) -> None:
        self._swaps(lambda lines: [one for one in lines if not one.startswith(_escaped(path))])

    def swap_on(self, path: str, priority: int) -> None:
        kind, used = ("partition", 0) if path.startswith("/dev") else ("file", 500000)
        number = priority if priority >= 0 else -2
        line = f"{_escaped(path)} {kind} 1000000 {used} {number}"
        self._swaps(lambda lines: [*lines[:1], *sorted([*lines[1:], line])])

    def _swaps(self, change: Callable[[list[str]], list[str]]) -> None:
        self.step()
        lines = change(self._old("/proc/swaps").splitlines())
        self.put({"/proc/swaps": "\n".join(lines) + "\n"})
        self.step()


def _escaped(path: str) -> str:
    return path.replace(" ", "\\040")


def new_machine(folder: Path, **more: str) -> SyntheticMachine:
    machine = SyntheticMachine(folder)
    machine.put(FILES)
    machine.put({f"/{name}": text for name, text in more.items()})
    return machine


def state(machine: SyntheticMachine) -> dict[str, bytes | tuple[int, bytes]]:
    """Everything but tune's own folder, to the byte."""
    return {
        name: path.read_bytes()
        for path in sorted(machine.root.rglob("*"))
        if path.is_file()
        and not (name := str(path.relative_to(machine.root))).startswith("var/lib/takt/")
    }


def killed_at_each_step(
    machine: SyntheticMachine, folder: Path, work: Callable[[SyntheticMachine], object]
) -> list[SyntheticMachine]:
    """What SIGKILL leaves of a machine at each step of the work, in the order of the steps.

    It lets nobody clean up, so that is what the files have at that moment: copies of them, those
    in a row that are alike once. The last one is that of all the work.
    """
    left: list[SyntheticMachine] = []
    last: list[dict[str, bytes]] = [{}]

    def step(*_: object) -> None:
        files = {str(one): one.read_bytes() for one in machine.root.rglob("*") if one.is_file()}
        if files != last[-1]:
            last[:] = [files]
            place = folder / str(len(left))
            shutil.copytree(machine.root, place)
            left.append(SyntheticMachine(place))

    flush = writing.flush
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "step", step)
        patch.setattr(writing, "flush", lambda path: (step(), flush(path), step())[1])
        work(machine)
    step()
    return left


REFUSED = errno.EIO
