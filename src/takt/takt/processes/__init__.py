# SPDX-License-Identifier: Apache-2.0
"""Starting, watching, ending and sweeping processes: what both flows stand on."""
