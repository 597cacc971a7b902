"""Command line as a module: ``python -m tropalign`` for interpreters whose folder of scripts is not on the path."""

from tropalign.cli.main import command

if __name__ == "__main__":
    command()
