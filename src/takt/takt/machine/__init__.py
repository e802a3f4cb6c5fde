# SPDX-License-Identifier: Apache-2.0
"""The machine: how it is read and changed, and the one list of the settings that real time wants.

Doctor and tune stand on it: what the one finds, the other changes, from the same list.
"""
