# SPDX-License-Identifier: Apache-2.0
"""``python -m takt``: the command line."""

import gc
import sys

from takt.cli.main import main

if __name__ == "__main__":
    # Nearly all that a call makes are modules, which stay: they need not be searched for garbage
    # while they are imported, nor at the end. A sixth of the CPU time of a short command.
    gc.set_threshold(50_000)
    try:
        main()
    finally:
        if "_duckdb" not in sys.modules:  # it counts what is not collected as leaked, line by line
            gc.freeze()
