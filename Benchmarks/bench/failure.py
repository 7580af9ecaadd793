"""When a figure cannot be had, or would not mean what it says."""


class Failure(Exception):
    """Ends one comparison; the others go on."""
