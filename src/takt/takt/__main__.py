# SPDX-License-Identifier: Apache-2.0
"""``python -m takt``: the command line."""

from takt.cli.main import main

if __name__ == "__main__":
    main()
