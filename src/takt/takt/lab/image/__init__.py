# SPDX-License-Identifier: Apache-2.0
"""A stick that a PC boots from: the RT kernel, this tool, and room for what it measures there."""
