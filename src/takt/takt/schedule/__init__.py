# SPDX-License-Identifier: Apache-2.0
"""The flow of an application: described, analysed, simulated, executed, and its traces read."""
