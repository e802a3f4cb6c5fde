# SPDX-License-Identifier: Apache-2.0
"""Kernels compared in a virtual machine."""
