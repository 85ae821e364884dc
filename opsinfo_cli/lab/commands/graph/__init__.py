"""`opsinfo graph`."""
