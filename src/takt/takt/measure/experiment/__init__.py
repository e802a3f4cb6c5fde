# SPDX-License-Identifier: Apache-2.0
"""What is to be measured: the experiment file and its plan."""
