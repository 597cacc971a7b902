"""Pages for a browser: the frame that all of them share, and a folder of scripts for each kind of result."""
