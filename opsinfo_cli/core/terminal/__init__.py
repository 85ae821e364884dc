"""Output: terminal, report formats, and one view per command's answer."""
