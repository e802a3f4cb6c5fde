# SPDX-License-Identifier: Apache-2.0
"""``python -m takt``: the command line."""

if __name__ == "__main__":
    try:
        from takt.cli import interrupt

        interrupt.ends_at_once()  # before anything else is imported
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    import gc
    import sys

    from takt.cli.main import main

    # Nearly all that a call makes are modules, which stay: they need not be searched for garbage
    # while they are imported, nor at the end. A sixth of the CPU time of a short command.
    gc.set_threshold(50_000)
    try:
        main()
    finally:
        interrupt.ends_at_once()
        if "_duckdb" not in sys.modules:  # it counts what is not collected as leaked, line by line
            gc.freeze()
