# SPDX-License-Identifier: Apache-2.0
"""Sets up everything that ``./takt`` needs below ``.takt/``; standard library only.

Steps: system packages, the tool's environment and beside it ROS 2 (wheels, unless an installation
is sourced), the colcon build; each as far as the level asks (levels.py). Each step leaves a stamp
when it is done and is skipped while its stamp is valid, so an interruption at any point costs at
most the steps in work. A lock keeps two runs apart.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT), str(ROOT / "src" / "takt")]
from setup import distributions, workspace  # noqa: E402 - of the clone
from setup.distributions import STATE, WHEELS  # noqa: E402
from setup.levels import ENVIRONMENTS, WHAT, higher  # noqa: E402
from setup.steps import HELD, SetupError, Steps, say, step, together  # noqa: E402
from setup.system_packages import missing_packages, of_some_tests  # noqa: E402

from takt.processes.guard import end_with  # noqa: E402 - standard library only, as the next
from takt.processes.process import output as run_to_its_end  # noqa: E402

REQUIREMENTS = ROOT / "setup" / "requirements"
LOG = STATE / "setup.log"
BESIDE = "setup-ros.log"  # beside it, of the steps that run at the same time
# The only one without a wheel; the locked setuptools builds it, not the newest of the day.
BUILT = "empy"
TURN_S, BETWEEN_S = 900.0, 3.0  # for another package manager to end; between two looks
ANSWER_S = 120.0  # for a program that only says something
WITHOUT = """\
  without ROS 2: measure, check and run on the raw stack, analyse, simulate, doctor and tune.
  For the rest source an installation of ROS 2 first, or on x86-64 name its wheels: --ros kilted"""


def main(want: str) -> int:
    """Brings ``.takt`` to the state that ``want`` names: root folder, ROS 2, level."""
    for number in (signal.SIGHUP, signal.SIGTERM):  # a closed terminal is an interrupt, too
        signal.signal(number, interrupt)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # the launcher blocked it
        refuse_where_it_cannot_build()
        STATE.mkdir(parents=True, exist_ok=True)
        with (STATE / "lock").open("w") as lock:
            acquire(lock)
            set_up(want)
    except SetupError as error:
        say(f"takt: {error}")
        return 2
    except (OSError, subprocess.CalledProcessError) as error:
        say(f"takt: the set-up cannot go on: {error}\n  fix: correct that; the next ./takt goes on")
        return 2
    except KeyboardInterrupt:
        say("takt: set-up interrupted; the next ./takt goes on from here")
        return 130
    return 0


def interrupt(_number: int, _frame: FrameType | None) -> None:
    for number in (signal.SIGHUP, signal.SIGTERM):  # a closed terminal sends both, one by one
        signal.signal(number, already_interrupted)
    raise KeyboardInterrupt


def already_interrupted(_number: int, _frame: FrameType | None) -> None:
    """In place of SIG_IGN, for which Python tells of a signal that came at the same time."""


def refuse_where_it_cannot_build() -> None:
    """At once, what pip or the generators of messages would say after minutes, in other words."""
    if distributions.prefix() and platform.machine() != "x86_64":
        raise SetupError(
            f"the wheels of ROS 2 are for x86_64, this machine is {platform.machine()}\n"
            "  fix: source an installation of ROS 2 first; it is taken instead of the wheels.\n"
            "  Or leave out --ros (and TAKT_ROS): what needs no ROS 2 is set up"
        )
    if not str(ROOT).isascii():
        raise SetupError(
            f"ROS 2's generators cannot build in a folder whose path has other letters than ASCII:"
            f" {ROOT}\n  fix: move the clone to a folder without them"
        )


def set_up(want: str) -> None:
    place, _, asked = want.rpartition(" ")
    before = read(STATE / "ready").strip()
    # Nothing is taken away by a command that needs less.
    level = higher(asked, before.rpartition(" ")[2]) if before.startswith(f"{place} ") else asked
    LOG.write_text("", encoding="utf-8")
    say(f"takt: setting up {WHAT[level]} below {STATE} (the log: {LOG})")
    if distributions.without_ros():
        say(WITHOUT)
    install_system_packages(level == "dev")
    discard_where_moved(place)
    ros = distributions.prefix()
    tool = make_environment("venv", ENVIRONMENTS[level], "the tool's Python environment")
    # pip fetches and unpacks one package after the other: two of them need not wait for each other.
    together(tool, *([make_ros(LOG.with_name(BESIDE))] if ros else []))
    if ros:
        workspace.make_prefix(ros)
    # The stamp is dated before the build: what changes while it runs is built the next time.
    mark = STATE / "ready.new"
    mark.write_text(f"{place} {level}\n", encoding="utf-8")
    build(level, ros)
    (STATE / "setup.sh").write_text(workspace.underlay(STATE, ros), encoding="utf-8")
    write_reference()
    mark.rename(STATE / "ready")


def acquire(lock: IO[str]) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("takt: another ./takt is setting up; waiting for it")
        fcntl.flock(lock, fcntl.LOCK_EX)
    HELD[:] = [lock.fileno()]


def install_system_packages(development: bool) -> None:
    """Installs what is missing through apt where that is allowed, or says the line to run."""
    missing = missing_packages(development)
    if not missing:
        return
    install = "apt-get install --yes --no-install-recommends"
    line = f"{install} {' '.join(missing)}"
    if shutil.which("apt-get") is None:
        raise SetupError(f"needs the packages that Debian calls: {' '.join(missing)}")
    if os.geteuid() == 0:
        sudo: list[str] = []
    elif (
        shutil.which("sudo")
        and not subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode
    ):
        sudo = ["sudo", "-n"]
    elif set(missing) <= set(of_some_tests()):
        say(f"  the tests that need {', '.join(missing)} are skipped; to run them: sudo {line}")
        return
    else:
        raise SetupError(f"needs system packages; run this once, then start again:\n  sudo {line}")
    # sudo keeps no environment; what apt says is looked at.
    apt = [*sudo, "env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C"]
    in_turn([*apt, "apt-get", "update"], "package lists")
    known = [name for name in missing if name not in of_some_tests() or has_package(name)]
    if left := [name for name in missing if name not in known]:
        say(f"  this system has no {', '.join(left)}: the tests that need it are skipped")
    if known:
        in_turn([*apt, *install.split(), *known], f"system packages: {' '.join(known)}")


def has_package(name: str) -> bool:
    """Whether apt can install it; another release of the system may have another name for it."""
    return not run_to_its_end(["apt-cache", "show", "--no-all-versions", name], ANSWER_S).returncode


def in_turn(command: list[str], title: str) -> None:
    """Runs apt when nobody else does: a machine that has just started updates itself."""
    until = time.monotonic() + TURN_S
    waited = False
    while True:
        before = LOG.stat().st_size
        try:
            return run(command, title, whole=True)
        except SetupError:
            said = LOG.read_bytes()[before:].decode(errors="replace")
            if "Could not get lock" not in said or time.monotonic() > until:
                raise
        if not waited:
            say(f"  another package manager is at work; waiting for it, at most {TURN_S:.0f} s")
        waited = True
        time.sleep(BETWEEN_S)


def discard_where_moved(want: str) -> None:
    """Environments and builds know their folder and their ROS 2: elsewhere they are made anew."""
    origin = STATE / "origin"
    if origin.exists() and origin.read_text(encoding="utf-8") != want:
        for name in ("ready", "venv", "ros", "docs", "build", "install"):
            discard(STATE / name)
    origin.write_text(want, encoding="utf-8")


def make_ros(log: Path) -> Steps:
    """Makes the environment with the wheels of ROS 2, and fixes them."""
    log.write_text("", encoding="utf-8")
    title = f"ROS 2 {WHEELS.capitalize()} from wheels"
    yield from make_environment("ros", f"ros-{WHEELS}", title, log)
    yield from fix_wheels(log)


def make_environment(name: str, requirements: str, title: str, log: Path | None = None) -> Steps:
    """Makes the virtual environment ``.takt/<name>`` with exactly the locked packages."""
    log = log or LOG
    folder, lock_file = STATE / name, REQUIREMENTS / f"{requirements}.txt"
    stamp = folder / "takt-stamp"
    content = hashlib.sha256(lock_file.read_bytes()).hexdigest() + sys.version
    if stamp.exists() and content in read(stamp):
        return
    python = folder / "bin" / "python"
    if not stamp.exists():  # absent, or interrupted while it was made
        discard(folder)
        yield from step([sys.executable, "-m", "venv", str(folder)], f"{title}: folder", log)
    stamp.unlink(missing_ok=True)
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--require-hashes"]
    pip += ["--only-binary=:all:", "--no-compile"]  # what is imported is compiled then
    pinned = lock_file.read_text(encoding="utf-8")
    if f"\n{BUILT}==" in f"\n{pinned}":
        builder = STATE / f"{name}-builder.txt"
        builder.write_text(entry(pinned, "setuptools"), encoding="utf-8")
        build_it = [*pip, "--requirement", str(builder)]
        yield from step(build_it, f"{title}: what builds {BUILT}", log)
        pip += [f"--no-binary={BUILT}", "--no-build-isolation", "--use-pep517"]
    install = [*pip, "--requirement", str(lock_file)]
    yield from step(install, title, log, progress=fetched(pinned))
    # A lock holds those of lower levels: a plain ./takt after ./takt test has nothing to do.
    order = list(dict.fromkeys(ENVIRONMENTS.values()))
    held = order[: order.index(requirements) + 1] if requirements in order else [requirements]
    files = [REQUIREMENTS / f"{name}.txt" for name in held]
    stamp.write_text(
        "".join(
            hashlib.sha256(file.read_bytes()).hexdigest() + sys.version + "\n" for file in files
        ),
        encoding="utf-8",
    )


def fetched(pinned: str) -> Callable[[str, float], str]:
    """Progress of pip: it names each package that it fetches, or that is for another machine."""
    packages = pinned.count("==")
    announced = re.compile(r"^(?:Collecting|Ignoring|Requirement already) ", re.MULTILINE)

    def progress(log: str, _elapsed_s: float) -> str:
        done = len(announced.findall(log))
        return "installing" if "\nInstalling" in log else f"package {done} of {packages}"

    return progress


def entry(lock_file: str, package: str) -> str:
    """The lines of a lock file that pin one package, with its hashes."""
    lines = lock_file.splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if line.startswith(f"{package}=="))
    rest = [i for i in range(first + 1, len(lines)) if not lines[i].startswith(" ")]
    return "".join(lines[first : rest[0] if rest else len(lines)])


def fix_wheels(log: Path) -> Steps:
    stamp, script = STATE / "ros" / "takt-fixed", ROOT / "setup" / "wheels.py"
    content = script.read_text(encoding="utf-8") + read(STATE / "ros" / "takt-stamp")
    if read(stamp) == content:
        return
    command = [str(STATE / "ros" / "bin" / "python"), str(script)]
    yield from step(command, "fixing the wheels' paths", log)
    stamp.write_text(content, encoding="utf-8")


def build(level: str, ros: Path | None) -> None:
    nanobind = output([str(STATE / "venv/bin/python"), "-m", "nanobind", "--cmake_dir"])
    workspace.forget_unfinished(STATE)
    run(
        workspace.command(ROOT, STATE, level, nanobind, ros),
        "build",
        workspace.environment(ROOT, STATE, ros),
        progress=lambda log, elapsed_s: workspace.progress(log, elapsed_s, level),
    )


def write_reference() -> None:
    """Writes the pages of the reference that are made from the code, as far as they can be made."""
    built = sorted((STATE / "install" / "lib").glob("python3.*/site-packages"))
    paths = {
        "PYTHONPATH": [ROOT / "src" / "takt", *built],
        "LD_LIBRARY_PATH": [STATE / "install" / "lib"],
    }
    environment = dict(os.environ)
    for name, folders in paths.items():
        before = filter(None, [environment.get(name)])
        environment[name] = os.pathsep.join([*map(str, folders), *before])
    python = str(STATE / "venv" / "bin" / "python")
    try:
        run([python, "-m", "takt.reference"], "reference", environment)
    except SetupError as error:  # everything else works without
        say(f"takt: {error}")


def run(
    command: list[str],
    title: str,
    environment: dict[str, str] | None = None,
    *,
    whole: bool = False,
    progress: Callable[[str, float], str] | None = None,
) -> None:
    """Runs one step to its end, alone."""
    together(step(command, title, LOG, environment, whole=whole, progress=progress))


def output(command: list[str]) -> str:
    done = run_to_its_end(command, ANSWER_S)
    done.check_returncode()
    return done.stdout.strip()


def discard(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    # The launcher's death is that of a closed terminal; main() has the handler by then, or nothing
    # has begun.
    sys.exit(main(sys.argv[1]) if end_with(int(sys.argv[2]), signal.SIGTERM) else 130)
