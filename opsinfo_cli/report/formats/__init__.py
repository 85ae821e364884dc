"""The formats of report files: one module each, with one function of its name; `report/findings.py` loads them by name."""
