"""Fusions: what the compiler makes of a model of another framework before it chooses dtypes."""
