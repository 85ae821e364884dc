"""Write the operator lists of other systems into opsinfo_cli/neighbours/data: `python -m tools.neighbour_lists`."""
