"""Reports of findings, one module per format, and unified diffs."""
