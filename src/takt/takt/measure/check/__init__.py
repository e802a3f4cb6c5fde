# SPDX-License-Identifier: Apache-2.0
"""The main job: measure every layer in two minutes, then say what the machine is good for."""
