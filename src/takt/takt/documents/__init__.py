# SPDX-License-Identifier: Apache-2.0
"""Every file that people write or read: bounded, located, written in one step."""
