# SPDX-License-Identifier: Apache-2.0
"""What a cell declares to be the case meanwhile: made, proved to be so, and ended."""
