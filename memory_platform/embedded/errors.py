"""What can go wrong with the embedded database, in words for the person who started it."""


class EmbeddedDatabaseError(Exception):
    """The embedded database cannot be used; the message says why and what to do. It never holds data."""
