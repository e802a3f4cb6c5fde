# SPDX-License-Identifier: Apache-2.0
"""Who may have a scheduler or worker run code: machines of its authority, and nobody else.

What is tried against them are Dask's own clients, the standard library's TLS, and bare sockets.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import synthetic_hosts
from conftest import Takt
from synthetic_hosts import Cluster, of_another_authority, until
from test_real_probes import INSTALLED, ROOT
from test_workers import BUILT, fake

from takt.network import certificates
from takt.schedule.campaign import cluster as campaigns

# Several processes that import Dask, on a busy machine.
pytestmark = [pytest.mark.timeout(720), pytest.mark.filterwarnings("ignore:unclosed")]
# By Dask itself: with the identity in $2 (none: -), at most a minute for the word of the scheduler.
RUNS_CODE = """
import dask, sys
from pathlib import Path
from distributed import Client
from takt.network.certificates import _read
address, file, mark = sys.argv[1:]
dask.config.set({"distributed.comm.timeouts.connect": "20s"})
security = None if file == "-" else _read(Path(file)).security()
with Client(address, timeout="20s", security=security) as client:
    client.run_on_scheduler(lambda: Path(mark).touch())
    client.run(lambda: Path(mark + ".worker").touch())
"""


@pytest.fixture(scope="module")
def machine_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("let_in") / "machines"


@pytest.fixture(scope="module")
def cluster(machine_folder: Path) -> Iterator[Cluster]:
    """A scheduler and a worker as a user starts them."""
    with synthetic_hosts.here(machine_folder, ("component",)) as opened:
        yield opened


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another user's, or another machine's, who has no certificate yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "takt" / "workers"


def who_runs_code(address: str, file: Path | str, mark: Path) -> set[str]:
    """Which of scheduler and worker did what a Dask client asked for."""
    subprocess.run(
        [sys.executable, "-c", RUNS_CODE, address, str(file), str(mark)],
        env=os.environ | {"PYTHONPATH": synthetic_hosts.python_path()},
        capture_output=True,
        timeout=300,
    )
    places = {"scheduler": mark, "worker": Path(f"{mark}.worker")}
    return {name for name, path in places.items() if path.exists()}


def test_a_machine_of_the_authority_is_let_in(cluster: Cluster, tmp_path: Path) -> None:
    found = who_runs_code(cluster.address, cluster.tool.certificate, tmp_path / "mark")
    assert found == {"scheduler", "worker"}


def worker_address(cluster: Cluster) -> str:
    """Where the worker listens; only who is let in would be told."""
    log = (cluster.tool.folder / "component.log").read_text()
    found = re.search(r"Listening to: +(\S+)", log)
    assert found, log
    return found[1]


@pytest.mark.parametrize("who", ["plain", "none", "another"])
@pytest.mark.parametrize("end", ["scheduler", "worker"])
def test_nobody_else_is_let_in(cluster: Cluster, tmp_path: Path, who: str, end: str) -> None:
    address = cluster.address if end == "scheduler" else worker_address(cluster)
    host, port = address.removeprefix("tls://").split(":")
    if who == "plain":
        assert who_runs_code(f"tcp://{host}:{port}", "-", tmp_path / "mark") == set()
        assert_is_reported_nothing(socket.create_connection((host, int(port)), 60))
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # they are not choosy
    if who == "another":
        file = of_another_authority(tmp_path / "other")
        context.load_cert_chain(file)
        assert who_runs_code(address, file, tmp_path / "mark") == set()
    try:
        way = context.wrap_socket(socket.create_connection((host, int(port)), 60))
    except (ssl.SSLError, ConnectionError):
        return
    assert_is_reported_nothing(way)


def assert_is_reported_nothing(way: socket.socket) -> None:
    """Dask greets whom it lets in, and then does what it is told."""
    with way:
        way.settimeout(60)
        try:
            way.sendall(b"\1" + bytes(15))
            said = way.recv(1)
        except (ssl.SSLError, ConnectionError):
            return
        assert said == b""


def test_there_is_no_page_and_no_port_beyond_loopback(cluster: Cluster) -> None:
    for process in (cluster.scheduler, *cluster.workers.values()):
        family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(True)]
        open_at = [
            one.laddr
            for each in family
            for one in each.net_connections("inet")
            if one.status == psutil.CONN_LISTEN
        ]
        assert open_at
        assert {host for host, _ in open_at} == {"127.0.0.1"}
        for _, port in open_at:
            with socket.create_connection(("127.0.0.1", port), 60) as way:
                way.sendall(b"GET /info/main/workers.html HTTP/1.0\r\n\r\n")
                try:
                    answer = way.recv(64)
                except ConnectionError:
                    continue
                assert answer == b"" or answer.split()[1] == b"404"


@pytest.mark.parametrize(
    "words", [["worker", "{}", "component"], [*fake("fine"), "--scheduler", "{}"]], ids=" ".join
)
@pytest.mark.parametrize("host", ["198.18.0.1", "198.51.100.7", "desk.invalid"])
def test_plain_tcp_beyond_loopback_is_refused(takt: Takt, words: list[str], host: str) -> None:
    done = takt(*(one.format(f"tcp://{host}:8786") for one in words))
    assert done.returncode == 2
    assert f"tcp://{host} is not on this machine" in done.stderr
    assert f"./takt scheduler --address {host}" in done.stderr


def test_a_campaign_goes_to_no_plain_scheduler_elsewhere(takt: Takt) -> None:
    (takt.folder / "grid.json").write_text(
        '{"parameters": {"nodes": 3, "utilization": 0.5, "periods": [5, 10]}}'
    )
    done = takt("campaign", "grid.json", "--scheduler", "tcp://198.18.0.1:8786")
    assert (done.returncode, "is not on this machine" in done.stderr) == (2, True)


def test_the_refusal_of_an_uninvited_machine_says_how_to_invite_it(
    takt: Takt, cluster: Cluster, home: Path
) -> None:
    done = takt("worker", cluster.address, "component")
    assert (done.returncode, "this machine has no certificate" in done.stderr) == (2, True)
    assert "./takt scheduler invite NAME" in done.stderr
    assert "./takt scheduler join NAME.pem" in done.stderr


def test_a_machine_that_joined_others_is_named_as_such(
    takt: Takt, cluster: Cluster, home: Path
) -> None:
    certificates.own()
    for words in (["worker", cluster.address], [*fake("fine"), "--scheduler", cluster.address]):
        done = takt(*words)
        assert (done.returncode, "belongs to another authority" in done.stderr) == (2, True)


def test_tls_where_the_scheduler_has_none_is_refused(takt: Takt, home: Path) -> None:
    certificates.own()
    with socket.create_server(("127.0.0.1", 0)) as plain:  # the system's queue accepts
        address = f"tls://127.0.0.1:{plain.getsockname()[1]}"
        done = takt("worker", address, "component")
    assert (done.returncode, "does not use TLS" in done.stderr) == (2, True)


def test_plain_tcp_where_the_scheduler_has_tls_is_refused(takt: Takt, cluster: Cluster) -> None:
    done = takt("worker", cluster.address.replace("tls:", "tcp:"), "component")
    assert (done.returncode, "starts with tls://" in done.stderr) == (2, True)


@pytest.mark.parametrize("words", [["scheduler", "--port", "0"], ["worker"]], ids=" ".join)
def test_root_is_refused_until_it_is_said(
    cluster: Cluster, tmp_path: Path, words: list[str]
) -> None:
    command = [sys.executable, "-m", "takt", *words]
    if words == ["worker"]:
        command.append(cluster.address)
    if os.geteuid():
        command = ["unshare", "--user", "--map-root-user", *command]
    environment = os.environ | {
        "PYTHONPATH": synthetic_hosts.python_path(),
        "XDG_CONFIG_HOME": str(cluster.tool.configuration),
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    if "unshare" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 2
    assert "would run as root" in done.stderr
    assert "--allow-root" in done.stderr


def test_processes_of_a_campaign_let_nobody_else_in(tmp_path: Path) -> None:
    """Whoever has an account on the machine reaches their ports, too."""
    with campaigns.cluster(None, 1) as client:
        address = str(client.scheduler_info()["address"])
        assert address.startswith("tls://127.0.0.1:")
        plain = address.replace("tls:", "tcp:")
        assert who_runs_code(plain, "-", tmp_path / "mark") == set()
        other = of_another_authority(tmp_path / "other")
        assert who_runs_code(address, other, tmp_path / "mark") == set()
        assert client.submit(sum, [1, 2]).result() == 3


@pytest.mark.thorough
def test_beyond_loopback_it_is_the_same(tmp_path: Path) -> None:
    """In namespaces: the only way from one to the other is a network."""
    if lack := synthetic_hosts.lacking():
        pytest.skip(f"no namespaces with a switch: {lack}")
    with synthetic_hosts.apart(tmp_path / "machines") as cluster:
        assert cluster.address.startswith("tls://198.18.0.1:")
        script = tmp_path / "runs_code.py"
        script.write_text(RUNS_CODE)
        own, other = cluster.tool.certificate, of_another_authority(tmp_path / "other")
        robot = cluster.machines["component"]
        asked = {
            "own": (cluster.address, own),
            "other": (cluster.address, other),
            "plain": (cluster.address.replace("tls:", "tcp:"), "-"),
        }
        marks = {name: tmp_path / f"{name}.mark" for name in asked}
        for name, (address, file) in asked.items():
            command = [sys.executable, script, address, str(file), str(marks[name])]
            process = robot.start(name, command)
            try:
                assert until(lambda process=process: process.poll() is not None)
            finally:
                process.end()
        assert {name for name, mark in marks.items() if mark.exists()} == {"own"}


@pytest.mark.thorough
def test_what_the_how_to_says_works_when_it_is_pasted(
    takt: Takt, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both machines are this one, and the experiment is only planned."""
    if not {"raw", "rcl"} <= set(INSTALLED.probes):
        pytest.skip("the stacks raw and rcl are not installed")
    monkeypatch.setenv("TAKT_PREFIX", BUILT)
    page = (ROOT / "docs" / "how-to" / "measure-between-hosts.md").read_text()
    lines = re.findall(r"^\./takt (.*?)(?: *#.*)?$", page, re.MULTILINE)
    invite, join, start, first, second, run = (line.split() for line in lines)
    assert takt(*invite).returncode == 0
    joining = tmp_path / "robot"
    shutil.move(takt.folder / "robot.pem", tmp_path / "robot.pem")
    desk = os.environ["XDG_CONFIG_HOME"]
    opened: list[subprocess.Popen[str]] = []
    with pytest.MonkeyPatch.context() as robot:
        robot.setenv("XDG_CONFIG_HOME", str(joining))
        assert takt(*join[:2], tmp_path / "robot.pem").returncode == 0
    start = ["127.0.0.1" if "." in word else word for word in start]
    try:
        opened.append(takt.start(*start, "--port", "0", *synthetic_hosts.AS_ROOT))
        assert opened[0].stdout
        at = opened[0].stdout.readline().split()[1]
        for line, keys in ((first, desk), (second, str(joining))):
            addressed = [at if "tls:" in word else word for word in line]
            words = ["127.0.0.1" if word.startswith("192.") else word for word in addressed]
            with pytest.MonkeyPatch.context() as where:
                where.setenv("XDG_CONFIG_HOME", keys)
                opened.append(takt.start(*words, *synthetic_hosts.AS_ROOT))
        words = [
            at if "tls:" in word else str(ROOT / word) if "/" in word else word for word in run
        ]
        planned = [*words, "--dry-run"]
        # Before both workers are there, it says so; before the scheduler answers, that.
        assert until(lambda: takt(*planned).returncode == 0), takt(*planned).stderr
        assert "cells in this order" in takt(*planned).stdout
    finally:
        for process in opened:
            process.terminate()
        for process in opened:
            process.communicate()
