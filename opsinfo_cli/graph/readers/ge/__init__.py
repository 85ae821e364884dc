"""Formats of the graph engine."""
