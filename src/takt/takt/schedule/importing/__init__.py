# SPDX-License-Identifier: Apache-2.0
"""Task sets of other tools as applications: a module for each format, all to the flat form."""
