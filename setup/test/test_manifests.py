# SPDX-License-Identifier: Apache-2.0
"""What package.xml says is true: dependencies are those that CMake finds and Python imports."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from setup.distributions import ROOT

from takt import __version__

PACKAGES = sorted(file.parent.name for file in ROOT.glob("src/*/package.xml"))
FIND = re.compile(r"^\s*find_package\(\s*([\w-]+)", re.MULTILINE)
PROJECT = re.compile(r"^project\(\s*(\w+)(?:[^)]*\bVERSION\s+([\d.]+))?", re.MULTILINE)
RESOURCES = re.compile(r"resources\.files\(\"(\w+)")
# Of CMake and Python, by the keys of rosdep; ROS packages have their own names.
KEY_OF_FOUND = {
    "CLI11": "cli11",
    "GTest": "libgtest-dev",
    "Python": "python3-dev",
    "nanobind": "nanobind-dev",
    "nlohmann_json": "nlohmann-json-dev",
}
NO_KEY = {
    "Threads",  # of the C library
    "Python3",  # ament_cmake finds it, and depends on it
    "CycloneDDS", "PkgConfig",  # stacks beside ROS 2, by choice: `takt setup`
}  # fmt: skip
KEY_OF_IMPORTED = {
    "ruamel": "python3-ruamel.yaml",
    "pydantic_core": "python3-pydantic",  # a part of it
    "takt_core": "takt_core",
}
# rosdep has no key for them; the tool says what to install where one of them is missing.
NO_KEY_OF_IMPORTED = {"distributed", "duckdb", "perfetto", "pyarrow"}
# Makes the reference of the C++ headers, in this repository only.
OF_DEVELOPERS = {"tree_sitter", "tree_sitter_cpp"}
# What is needed though no CMakeLists.txt finds it.
ALSO_NEEDED = {
    "takt": {"takt_probes", "takt_runner"},  # whose programs it starts
    "takt_core": {"python3-numpy"},  # whose arrays its module takes
    # The type supports that rosidl_typesupport_cpp looks for by itself.
    "takt_interfaces": {
        "rosidl_runtime_cpp",
        "rosidl_typesupport_fastrtps_cpp",
        "rosidl_typesupport_introspection_cpp",
    },
    "takt_rclcpp": {"launch_ros", "launch_xml"},  # the launch files of its examples
}
OF_TESTS = {
    "takt_core": {"python3-hypothesis", "python3-numpy", "python3-pytest", "python3-scipy"},
    "takt_probes": {"python3-pytest"},
    "takt_rcl": {"python3-pytest", "rclpy"},
    "takt_rclcpp": {"composition_interfaces"},  # asks the container to load
}
# Keys of rosdep/base.yaml and rosdep/python.yaml, and packages of Humble, Jazzy, Kilted and
# Rolling, looked up in the public repository ros/rosdistro as of August 2026, commit 8468e88c.
KNOWN_KEYS = frozenset(
    name
    for line in (
        "cli11 libgtest-dev nanobind-dev nlohmann-json-dev yaml-cpp python3-cryptography",
        "python3-dev python3-hypothesis python3-jinja2 python3-matplotlib python3-numpy",
        "python3-psutil python3-pydantic python3-pytest python3-rich python3-ruamel.yaml",
        "python3-scipy python3-typer python3-yaml ament_cmake ament_cmake_python",
        "composition_interfaces diagnostic_msgs launch_ros launch_xml lifecycle_msgs rcl",
        "rcl_yaml_param_parser rclcpp rclcpp_action rclcpp_components rclcpp_lifecycle rclpy",
        "rcutils rmw rmw_implementation rosgraph_msgs rosidl_cmake rosidl_generator_cpp",
        "rosidl_runtime_cpp rosidl_typesupport_cpp rosidl_typesupport_fastrtps_cpp",
        "rosidl_typesupport_introspection_cpp std_msgs test_msgs tracetools",
    )
    for name in line.split()
)


class Manifest:
    """A package.xml."""

    def __init__(self, package: str) -> None:
        self.folder = ROOT / "src" / package
        self.root = ElementTree.parse(self.folder / "package.xml").getroot()  # noqa: S314 - ours

    def text(self, tag: str) -> str:
        return (self.root.findtext(tag) or "").strip()

    def depends(self, *, test: bool) -> set[str]:
        """All that it depends on: for users, or for tests only."""
        kinds = {tag.tag for tag in self.root if tag.tag.endswith("depend")}
        kinds = {"test_depend"} if test else kinds - {"test_depend"}
        return {str(tag.text) for tag in self.root if tag.tag in kinds}


def found(package: str, *, test: bool) -> set[str]:
    """What CMake looks for there, by key; below test/ or elsewhere."""
    folder = ROOT / "src" / package
    keys = set()
    for file in [*folder.rglob("CMakeLists.txt"), *folder.rglob("*.cmake")]:
        if ("test" in file.relative_to(folder).parts) == test:
            text = re.sub(r"#.*", "", file.read_text(encoding="utf-8"))
            keys |= {KEY_OF_FOUND.get(one, one) for one in FIND.findall(text) if one not in NO_KEY}
    return keys - {package}


def imported() -> set[str]:
    """What the tool imports or reads files of, but for Python's own and itself."""
    names = set()
    for file in (ROOT / "src" / "takt" / "takt").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        names |= set(RESOURCES.findall(text))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.partition(".")[0])
    return names - set(sys.stdlib_module_names) - {"takt"} - OF_DEVELOPERS


@pytest.mark.parametrize("package", PACKAGES)
def test_it_depends_on_what_it_needs_and_nothing_else(package: str) -> None:
    needs = found(package, test=False) | ALSO_NEEDED.get(package, set())
    if package == "takt":
        names = imported() - NO_KEY_OF_IMPORTED
        needs |= {KEY_OF_IMPORTED.get(name, f"python3-{name}") for name in names}
    assert Manifest(package).depends(test=False) == needs


@pytest.mark.parametrize("package", PACKAGES)
def test_its_tests_depend_on_what_they_need(package: str) -> None:
    manifest = Manifest(package)
    needs = found(package, test=True) | OF_TESTS.get(package, set())
    assert manifest.depends(test=True) == needs - manifest.depends(test=False)


@pytest.mark.parametrize("package", PACKAGES)
def test_what_its_users_build_with_is_for_them_too(package: str) -> None:
    """A build_depend is not there where somebody builds against an installed package."""
    manifest = Manifest(package)
    text = (manifest.folder / "CMakeLists.txt").read_text(encoding="utf-8")
    exported = {
        name
        for one in re.findall(r"ament_export_dependencies\(([^)]*)\)", text)
        for name in one.split()
    }
    for_users = {
        str(tag.text) for tag in manifest.root if tag.tag in {"depend", "build_export_depend"}
    }
    assert exported - for_users - NO_KEY == set()


def test_what_has_no_key_is_imported_and_named_in_the_manual() -> None:
    assert imported() >= NO_KEY_OF_IMPORTED
    manual = (ROOT / "docs" / "how-to" / "use-a-ros-installation.md").read_text(encoding="utf-8")
    manifest = (ROOT / "src" / "takt" / "package.xml").read_text(encoding="utf-8")
    for name in NO_KEY_OF_IMPORTED:
        assert f" {name}" in manual
        assert f" {name}" in manifest


def test_every_dependency_is_of_this_workspace_or_a_key_of_rosdep() -> None:
    asked = {
        name
        for package in PACKAGES
        for test in (False, True)
        for name in Manifest(package).depends(test=test)
    }
    assert asked - set(PACKAGES) - KNOWN_KEYS == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_name_version_and_licence_are_the_same_everywhere(package: str) -> None:
    manifest = Manifest(package)
    ((name, version),) = PROJECT.findall(
        (manifest.folder / "CMakeLists.txt").read_text(encoding="utf-8")
    )
    assert (manifest.text("name"), manifest.text("version")) == (package, __version__)
    assert (name, version or __version__) == (package, __version__)
    assert manifest.text("license") == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert manifest.text("description").endswith(".")


def sources(package: str) -> list[Path]:
    kinds = {".hpp", ".cpp", ".h", ".c", ".py", ".cmake", ".sh"}
    folder = ROOT / "src" / package
    files = [file for file in folder.rglob("*") if file.suffix in kinds]
    return [*files, folder / "CMakeLists.txt"]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_source_file_names_the_licence(package: str) -> None:
    """In place of ament_copyright, which wants the whole text of a notice in each file."""
    files = [file for file in sources(package) if "__pycache__" not in file.parts]
    without = [
        str(file.relative_to(ROOT))
        for file in files
        if "SPDX-License-Identifier: Apache-2.0" not in file.read_text(encoding="utf-8")[:400]
    ]
    assert without == []
