# SPDX-License-Identifier: Apache-2.0
"""Changes the settings of a machine for real time, and takes each back exactly.

Which settings there are is the machine's list, which the doctor has, too.
"""
