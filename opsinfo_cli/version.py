"""The version, in a module of its own, so that what writes it into a file imports nothing above it."""

__version__ = "0.2.0"
