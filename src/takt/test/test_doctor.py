# SPDX-License-Identifier: Apache-2.0
"""The doctor on machines that are not this one, each given as a tree of files."""

from __future__ import annotations

import errno
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fake_machine import Fake
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from known_machines import LAPTOP

from takt.doctor import CHECKS, SEVERITIES, findings, fingerprint
from takt.doctor.finding import Severity
from takt.doctor.fingerprint import tool_commit
from takt.machine.system import format_cpu_list, parse_cpu_list

# Findings about what not every machine has.
NOT_EVERYWHERE = ("ksoftirqd", "irq-threads", "cpusets")

# whole machines


def test_a_well_prepared_robot_is_all_good(robot: Fake) -> None:
    assert {one.id: one.value for one in findings(robot) if one.severity is not Severity.good} == {}


def test_a_machine_without_information_gets_plain_words_and_no_exception(nothing: Fake) -> None:
    found = findings(nothing)
    assert not [one for one in found if one.severity in (Severity.problem, Severity.warning)]
    unknown = {one.id for one in found if one.severity is Severity.unknown}
    assert {"preemption", "rt-throttling", "clocksource", "steal", "swap", "cpus"} <= unknown


def test_a_file_full_of_nonsense_never_costs_the_other_answers(robot: Fake) -> None:
    robot.put({"/proc/loadavg": "much\n", "/proc/stat": "cpu a b c d e f g h i\n"})
    found = {one.id: one for one in findings(robot)}
    assert found["load"].severity is Severity.unknown
    assert found["steal"].severity is Severity.unknown
    assert found["preemption"].severity is Severity.good


def test_a_release_that_names_no_file_costs_its_configuration_only(robot: Fake) -> None:
    robot.put({"/proc/sys/kernel/osrelease": "6.1\0rt\n"})
    machine = type(robot)(robot.root)
    assert machine.kernel_config == {}
    json.dumps(fingerprint(machine))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_no_content_of_any_file_makes_the_doctor_fail(robot: Fake, data: st.DataObject) -> None:
    files = sorted(path for path in robot.root.rglob("*") if path.is_file())
    path = data.draw(st.sampled_from(files))
    before = path.read_bytes()
    try:
        path.write_bytes(data.draw(st.one_of(st.binary(max_size=40), st.just(before * 2))))
        machine = type(robot)(robot.root)
        assert len(findings(machine)) >= len(CHECKS) - len(NOT_EVERYWHERE)
        json.dumps(fingerprint(machine))
    finally:
        path.write_bytes(before)


def test_worst_findings_come_first(nothing: Fake) -> None:
    nothing.fifo_error = errno.EPERM
    ranks = [SEVERITIES.index(one.severity) for one in findings(nothing)]
    assert ranks == sorted(ranks)
    assert findings(nothing)[0].id in ("sched-fifo", "locked-memory")


def test_whatever_is_wrong_comes_with_a_fix(tmp_path: Path, robot: Fake) -> None:
    laptop = Fake(tmp_path / "laptop").put(LAPTOP)
    for machine in (robot, laptop, Fake(tmp_path / "none")):
        for one in findings(machine):
            if one.severity in (Severity.problem, Severity.warning):
                assert one.fix, one.id


def test_identifiers_are_unique(robot: Fake) -> None:
    names = [one.id for one in findings(robot)]
    assert len(names) == len(set(names))


def test_this_very_machine_can_be_examined() -> None:
    assert len(findings()) >= len(CHECKS) - len(NOT_EVERYWHERE)


@pytest.mark.parametrize(
    ("name", "severity", "value"),
    [
        ("preemption", Severity.problem, "voluntary"),
        ("rt-throttling", Severity.note, "950 ms of every 1000 ms"),
        ("locked-memory", Severity.problem, "8 MiB"),
        ("isolation", Severity.warning, "no CPU is isolated"),
        ("smt", Severity.warning, "4 cores run two threads each"),
        ("governor", Severity.problem, "powersave on 8 CPUs"),
        ("idle-states", Severity.warning, "C10, 890 µs"),
        ("turbo", Severity.note, "on"),
        ("huge-pages", Severity.warning, "always"),
        ("swap", Severity.warning, "swappiness 60"),
        ("memory", Severity.warning, "0.2 of 15.3 GiB"),
        ("udp-buffers", Severity.warning, "208 KiB"),
        ("irqbalance", Severity.warning, "running"),
        ("interrupts", Severity.note, "1 of 1"),
        ("clocksource", Severity.problem, "hpet"),
        ("hypervisor", Severity.unknown, "could not be read"),
    ],
)
def test_a_laptop_fresh_from_the_shop(
    tmp_path: Path, name: str, severity: Severity, value: str
) -> None:
    found = Fake(tmp_path).put(LAPTOP).finding(name)
    assert (found.severity, value in found.value) == (severity, True), found


# fingerprint


def test_the_fingerprint_contains_nothing_of_the_owner(robot: Fake) -> None:
    robot.put(
        {
            "/proc/cmdline": "root=/dev/sda1 isolcpus=3 token=s3cret ip=10.1.2.3 user=mia "
            "nohz_full=/home/mia\n",
            "/etc/hostname": "mias-robot\n",
        }
    )
    text = json.dumps(fingerprint(Fake(robot.root)))
    for private in ("sda1", "s3cret", "10.1.2.3", "mia", str(robot.root), str(Path.home())):
        assert private not in text
    assert "isolcpus=3" in text


def test_the_fingerprint_names_what_decides_timing(robot: Fake) -> None:
    found = fingerprint(robot)
    assert found["kernel"] == "6.1.0-31-rt-amd64"
    assert found["preemption"] == "PREEMPT_RT"
    assert found["cpu_model"] == "Example i5"
    assert (found["cpus"], found["smt"], found["isolated_cpus"]) == (4, False, "3")
    assert (found["governor"], found["clocksource"]) == ("performance", "tsc")
    assert found["memory_bytes"] == 8_000_000 * 1024
    assert found["virtualised"] is False


def test_the_versions_of_ros_come_from_its_manifests(
    nothing: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    for prefix, version in (("first", "9.2.5"), ("second", "10.1.3")):
        manifest = f"<package><name>rcl</name><version> {version} </version></package>"
        nothing.put({f"/{prefix}/share/rcl/package.xml": manifest})
    nothing.put({"/first/share/rmw_fastrtps_cpp/package.xml": "no XML"})
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    for name in ("TAKT_PREFIX", "TAKT_ROS_WHEELS"):
        monkeypatch.delenv(name, raising=False)
    prefixes = f"{nothing.root}/none:{nothing.root}/first:{nothing.root}/second"
    monkeypatch.setenv("AMENT_PREFIX_PATH", prefixes)
    found = fingerprint(nothing)
    assert found["ros_packages"] == {"rcl": "9.2.5"}
    assert found["ros_distribution"] == "jazzy"


@pytest.mark.parametrize(("version", "name"), [("9.2.8", "jazzy"), ("10.1.3", "kilted")])
def test_the_ros_of_the_wheels_is_known(
    nothing: Fake, version: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels = f"<package><name>rcl</name><version>{version}</version></package>"
    other = wheels.replace(version, "5.3.1")
    nothing.put({"/wheels/share/rcl/package.xml": wheels, "/other/share/rcl/package.xml": other})
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    monkeypatch.setenv("TAKT_PREFIX", f"{nothing.root}/install")
    monkeypatch.setenv("TAKT_ROS_WHEELS", f"{nothing.root}/wheels")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{nothing.root}/other")  # what is beside the wheels
    found = fingerprint(nothing)
    assert found["ros_packages"] == {"rcl": version}
    assert found["ros_distribution"] == name


def test_the_commit_is_never_what_git_says_where_it_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run(["git", *identity, "-C", tmp_path, *arguments], check=True)

    git("init", "--quiet")
    assert tool_commit(tmp_path)["takt_commit"] is None  # no commit yet
    (tmp_path / "file").touch()
    git("add", "file")
    git("commit", "--quiet", "--message=x")
    found = tool_commit(tmp_path)["takt_commit"]
    assert found
    assert re.fullmatch("[0-9a-f]{12}", found)
    (tmp_path / "file").write_text("changed")
    assert tool_commit(tmp_path) == {"takt_commit": f"{found}+changes"}
    with monkeypatch.context() as patch:
        patch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # git's own way to test it
        refused = tool_commit(tmp_path)
        assert refused["takt_commit"] is None
        assert "dubious ownership" in (refused["takt_commit_unknown"] or "")
        assert str(tmp_path) not in json.dumps(refused)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert tool_commit(tmp_path)["takt_commit_unknown"] == "git is not installed"
    (tmp_path / ".git").rename(tmp_path / "elsewhere")
    assert tool_commit(tmp_path) == {"takt_commit": None}


# lists of CPUs


@given(st.sets(st.integers(0, 300)))
def test_cpu_lists_survive_a_round_trip(numbers: set[int]) -> None:
    assert parse_cpu_list(format_cpu_list(numbers)) == sorted(numbers)


@given(st.text(max_size=20))
def test_what_is_no_cpu_list_is_empty_or_numbers(text: str) -> None:
    assert all(cpu >= 0 for cpu in parse_cpu_list(text))


# the command


def doctor(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "takt", "doctor", *arguments]
    environment = {"PYTHONPATH": ":".join(sys.path), "COLUMNS": "80", "LANG": "C.UTF-8"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_the_exit_code_says_whether_a_problem_was_found() -> None:
    done = doctor("--json")
    document = json.loads(done.stdout)
    assert set(document) == {"schema_version", "findings", "fingerprint"}
    problems = [one for one in document["findings"] if one["severity"] == "problem"]
    assert done.returncode == (1 if problems else 0)


def test_the_text_names_every_finding_and_fits_80_columns_but_for_commands() -> None:
    done = doctor()
    for finding in json.loads(doctor("--json").stdout)["findings"]:
        assert finding["title"] in done.stdout
    for line in done.stdout.splitlines():
        assert len(line) <= 80 or any(word in line for word in ("sudo", "echo", "printf"))
        assert line == line.rstrip() or line.startswith("  ")
