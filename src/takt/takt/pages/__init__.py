# SPDX-License-Identifier: Apache-2.0
"""What every page, picture and table shares."""
