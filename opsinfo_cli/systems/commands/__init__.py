"""The commands of `opsinfo systems`, one module for each."""
