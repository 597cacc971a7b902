"""Options, each declared once for the command line, Python, the server's forms and the docs."""
