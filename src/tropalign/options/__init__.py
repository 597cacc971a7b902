"""Options: what each is, said once, for the command line, Python, the server's forms and the docs."""
