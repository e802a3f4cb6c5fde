# SPDX-License-Identifier: Apache-2.0
"""What is missing, and what that means for a limit: one rule for every command."""
