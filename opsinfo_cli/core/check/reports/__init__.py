"""The formats of report files: one module each, with one function of its name, by which it is loaded."""
