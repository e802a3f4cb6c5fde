# SPDX-License-Identifier: Apache-2.0
"""Hosts, the links between them, their clocks, and the middleware that sends over them."""
