"""The same as ``tropalign.results.gapped``, where it stands by now."""

from tropalign.results.gapped import *  # noqa: F403
