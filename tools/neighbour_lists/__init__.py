"""Write the operator lists of other systems into opsinfo_cli/systems/data: `python -m tools.neighbour_lists`."""
