# SPDX-License-Identifier: Apache-2.0
"""One application under every executor that the analysis and the simulation know."""
