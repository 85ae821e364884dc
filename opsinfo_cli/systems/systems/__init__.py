"""The systems and formats: one module each, which describes its own in ``SYSTEMS``."""
