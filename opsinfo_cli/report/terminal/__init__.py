"""Terminal output: streams, widths, styles, tables and progress."""
