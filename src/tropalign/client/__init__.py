"""Jobs on a server of ``tropalign serve``, from Python and from the command line."""
