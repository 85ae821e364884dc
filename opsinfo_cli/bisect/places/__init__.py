"""Places where trials run: processes of this machine, a simulation, a person."""
