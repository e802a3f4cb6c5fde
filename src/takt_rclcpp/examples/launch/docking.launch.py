# SPDX-License-Identifier: Apache-2.0
"""Started by ``ros2 launch takt_rclcpp docking.launch.py [timing:=FILE]``."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import ComposableNodeContainer
from launch_ros.descriptions import ComposableNode
from launch_ros.substitutions import FindPackageShare


def generate_launch_description() -> LaunchDescription:
    """The two nodes in Takt's container."""
    pointers = [{"use_intra_process_comms": True}]
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "timing",
                default_value=PathJoinSubstitution(
                    [FindPackageShare("takt_rclcpp"), "examples", "docking.timing.yaml"]
                ),
                description="priorities, deadlines and more of the callbacks",
            ),
            ComposableNodeContainer(
                package="takt_rclcpp",
                executable="component_container_takt",
                name="docking",
                namespace="",
                arguments=["--takt-timing", LaunchConfiguration("timing")],
                composable_node_descriptions=[
                    ComposableNode(
                        package="takt_rclcpp",
                        plugin=f"docking::{node.capitalize()}",
                        name=node,
                        extra_arguments=pointers,
                    )
                    for node in ("radar", "guard")
                ],
                output="screen",
            ),
        ]
    )
