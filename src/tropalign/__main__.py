"""Entry point of ``python -m tropalign``, for interpreters whose scripts folder is not on the path."""

from tropalign.cli.main import command

if __name__ == "__main__":
    command()
