"""The command line in a process of its own, for tests that start it themselves."""

import sys

COMMAND = [sys.executable, "-m", "tropalign.cli.main"]
