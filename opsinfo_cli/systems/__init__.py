"""Operator lists of other systems, one module each, converted through one neutral vocabulary."""
