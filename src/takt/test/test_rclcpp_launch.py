# SPDX-License-Identifier: Apache-2.0
"""The launch files of takt_rclcpp's example, without ROS 2's launch: that both start the same."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "takt_rclcpp"
LAUNCH = PACKAGE / "examples" / "launch"


class _Action:
    """Anything of ROS 2's launch: keeps what it is made of."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.given, self.named = given, named


@pytest.fixture
def description(monkeypatch: pytest.MonkeyPatch) -> list[_Action]:
    """What the launch file in Python describes."""
    for module, names in {
        "launch": ["LaunchDescription"],
        "launch.actions": ["DeclareLaunchArgument"],
        "launch.substitutions": ["LaunchConfiguration", "PathJoinSubstitution"],
        "launch_ros": [],
        "launch_ros.actions": ["ComposableNodeContainer"],
        "launch_ros.descriptions": ["ComposableNode"],
        "launch_ros.substitutions": ["FindPackageShare"],
    }.items():
        module_of = ModuleType(module)
        for name in names:
            setattr(module_of, name, type(name, (_Action,), {}))
        monkeypatch.setitem(sys.modules, module, module_of)
    found = runpy.run_path(str(LAUNCH / "docking.launch.py"))["generate_launch_description"]()
    actions: list[_Action] = found.given[0]
    return actions


def test_both_launch_files_start_the_same_container(description: list[_Action]) -> None:
    root = ElementTree.parse(LAUNCH / "docking.launch.xml").getroot()  # noqa: S314 - our own file
    container = root.find("node_container")
    assert container is not None
    argument, started = description
    assert argument.given == ("timing",)
    for key, name in {"pkg": "package", "exec": "executable", "name": "name"}.items():
        assert container.get(key) == started.named[name]
    assert container.get("args") == "--takt-timing $(var timing)"
    assert started.named["arguments"][0] == "--takt-timing"
    assert [(node.get("pkg"), node.get("plugin"), node.get("name")) for node in container] == [
        (node.named["package"], node.named["plugin"], node.named["name"])
        for node in started.named["composable_node_descriptions"]
    ]


def test_what_they_name_is_built_and_installed() -> None:
    root = ElementTree.parse(LAUNCH / "docking.launch.xml").getroot()  # noqa: S314 - our own file
    built = (PACKAGE / "CMakeLists.txt").read_text(encoding="utf-8")
    examples = (PACKAGE / "examples" / "CMakeLists.txt").read_text(encoding="utf-8")
    components = (PACKAGE / "examples" / "components.cpp").read_text(encoding="utf-8")
    container = root.find("node_container")
    assert container is not None
    assert f"add_executable({container.get('exec')} " in built
    for node in container:
        assert f"RCLCPP_COMPONENTS_REGISTER_NODE({node.get('plugin')})" in components
        assert str(node.get("plugin")) in built
    assert "docking.timing.yaml DESTINATION share/${PROJECT_NAME}/examples" in examples
    assert (PACKAGE / "examples" / "docking.timing.yaml").exists()
