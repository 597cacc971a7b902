"""The parts that a run has kept so far, whoever holds their directory."""

from tropalign.execution.parts import LIST, listed


def parts_in(directory):
    """By their index the parts that are listed, and where their sections lie."""
    try:
        return listed((directory / LIST).read_bytes())[0]
    except FileNotFoundError:
        return {}


def damage(directory, n_parts):
    """Changes a byte of the first section of so many parts."""
    for entry in list(parts_in(directory).values())[:n_parts]:
        with open(directory / "section0", "r+b") as file:
            file.seek(entry.stretches[0].begin)
            byte = file.read(1)[0]
            file.seek(entry.stretches[0].begin)
            file.write(bytes([byte ^ 1]))
