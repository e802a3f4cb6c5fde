# SPDX-License-Identifier: Apache-2.0
"""What the tests of all packages need."""

import signal

# A shell that starts this in the background ignores Ctrl-C for it, and so would whatever the tests
# start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
