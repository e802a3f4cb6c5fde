# SPDX-License-Identifier: Apache-2.0
"""What many runs say together: they accumulate by configuration, as histograms that add up."""
