# SPDX-License-Identifier: Apache-2.0
"""Several middlewares of one ROS 2: a stack for each of them, which runs on that one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_run import measured

from takt.errors import TaktError
from takt.measure.results.model import Status
from takt.network import rmw, same_host, stacks, transport
from takt.network.same_host import Identity

CYCLONE, FAST_DDS, ZENOH = "rmw_cyclonedds_cpp", "rmw_fastrtps_cpp", "rmw_zenoh_cpp"
INDEX = "share/ament_index/resource_index/rmw_typesupport"


def installed(folder: Path, *names: str) -> dict[str, str]:
    """The variables of an installation with these implementations."""
    (folder / INDEX).mkdir(parents=True)
    for name in names:
        (folder / INDEX / name).write_text("c:rosidl_typesupport_c\n")
    return {"AMENT_PREFIX_PATH": str(folder)}


@pytest.fixture
def ros(prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake probe as that of rcl, on an installation with Fast DDS and Cyclone DDS."""
    probes = prefix / "lib" / "takt_probes"
    (probes / "probe_rcl").symlink_to(probes / "probe_fake")
    for name, value in installed(tmp_path / "ros", CYCLONE, FAST_DDS).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv(rmw.VARIABLE, raising=False)
    monkeypatch.delenv("TAKT_ROS_WHEELS", raising=False)


@pytest.mark.parametrize(
    ("there", "default", "expected"),
    [
        ([FAST_DDS], "", []),
        ([FAST_DDS, CYCLONE], "", [("rcl_cyclonedds", CYCLONE)]),
        ([FAST_DDS, CYCLONE], CYCLONE, [("rcl_fastrtps", FAST_DDS)]),
        ([FAST_DDS, ZENOH, "rmw_implementation"], "", [("rcl_zenoh", ZENOH)]),
        ([FAST_DDS, "rmw_gurumdds_cpp"], "", []),  # what no cell is kept apart from
    ],
)
def test_the_other_middlewares_of_an_installation_are_stacks(
    tmp_path: Path, there: list[str], default: str, expected: list[tuple[str, str]]
) -> None:
    variables = {**installed(tmp_path, *there), rmw.VARIABLE: default}
    assert list(rmw.stacks("rcl", variables)) == expected


@pytest.mark.usefixtures("ros")
def test_each_stack_runs_on_its_middleware(folder: Path, memory: Path) -> None:
    run = measured(folder, memory, stack=["rcl", "rcl_cyclonedds", "rcl_cyclonedds,rcl"])
    assert {cell.stack: cell.status for cell in run.cells} == {
        "rcl": Status.complete,
        "rcl_cyclonedds": Status.complete,
        "rcl_cyclonedds,rcl": Status.complete,
    }
    ran = {(cell.stack, one.role): one.versions.get("rmw") for cell in run.cells
           for one in cell.probes}  # fmt: skip
    assert ran == {
        ("rcl", "ping"): None,  # as the user has it
        ("rcl", "pong"): None,
        ("rcl_cyclonedds", "ping"): CYCLONE,
        ("rcl_cyclonedds", "pong"): CYCLONE,
        ("rcl_cyclonedds,rcl", "ping"): CYCLONE,
        ("rcl_cyclonedds,rcl", "pong"): None,
    }
    assert run.versions["rmw of rcl_cyclonedds"] == CYCLONE
    assert "rmw" not in run.versions


@pytest.mark.usefixtures("ros")
def test_what_only_fast_dds_carries_is_not_offered_and_what_is_missing_has_a_fix() -> None:
    found = stacks.find()
    assert "fine" in found["rcl_cyclonedds"].transports("pingpong")
    assert [rmw.carries(CYCLONE, one) for one in ("udp", "process", "shm", "loan")] == [
        True,
        True,
        False,
        False,
    ]
    with pytest.raises(TaktError, match="rcl_fastrtps_dynamic is not installed") as error:
        raise found.missing("rcl_fastrtps_dynamic", "here")
    assert "ROS 2 installation that has this middleware" in str(error.value)
    assert str(error.value).endswith("ros-$ROS_DISTRO-rmw-fastrtps-dynamic-cpp")


def test_zenoh_carries_messages_by_tcp_without_a_dds() -> None:
    carried = [one for one in ("tcp", "process", "udp", "shm", "loan") if rmw.carries(ZENOH, one)]
    assert carried == ["tcp", "process"]
    assert list(rmw.stacks("rclcpp", {})) == []


def test_the_ends_of_a_cell_on_zenoh_find_each_other_and_nobody_else() -> None:
    profiles = transport.zenoh(7, own="10.0.0.1", peer="10.0.0.2")
    user = {transport.ZENOH_CHANGES: "mode=client", "ZENOH_SESSION_CONFIG_URI": "/home/x.json5"}
    found = transport.environment(profiles, 7, user)
    changes = dict(one.split("=", 1) for one in found[transport.ZENOH_CHANGES].split(";"))
    port = transport.zenoh_port(7)
    assert changes["mode"] == '"peer"'
    assert json.loads(changes["listen/endpoints"]) == [f"tcp/10.0.0.1:{port}", "tcp/10.0.0.1:0"]
    assert json.loads(changes["connect/endpoints"]) == [f"tcp/10.0.0.2:{port}"]
    assert changes["scouting/multicast/enabled"] == "false"
    assert found["ZENOH_ROUTER_CHECK_ATTEMPTS"] == "-1"
    assert "ZENOH_SESSION_CONFIG_URI" not in found
    assert len({transport.zenoh_port(domain) for domain in range(102)}) == 102


def test_a_stack_on_fast_dds_takes_clones_for_one_host_whatever_is_the_default(
    tmp_path: Path,
) -> None:
    variables = {**installed(tmp_path, FAST_DDS, CYCLONE), rmw.VARIABLE: CYCLONE}
    one, clone = Identity("m", "a"), Identity("m", "b")
    assert same_host.taken_for_one(["rcl_fastrtps"], one, clone, variables)
    assert not same_host.taken_for_one(["rcl"], one, clone, variables)
