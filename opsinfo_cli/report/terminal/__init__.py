"""Streams, widths, styles, tables and progress: what a terminal needs."""
