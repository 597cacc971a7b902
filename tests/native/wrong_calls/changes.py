"""Arguments of a call with something changed."""


def changed(valid, **changes):
    """The arguments with some of another value."""
    return {**valid, **changes}


def with_value(array, at, value):
    """A copy with one value changed."""
    made = array.copy()
    made[at] = value
    return made
