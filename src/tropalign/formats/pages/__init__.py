"""Web pages: the frame that all share, and a folder of scripts for each kind of result."""
