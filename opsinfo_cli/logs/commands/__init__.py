"""The commands on logs."""
