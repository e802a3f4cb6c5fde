# SPDX-License-Identifier: Apache-2.0
"""A trace or a recording as one page: timeline, graph of nodes and topics, chains."""
