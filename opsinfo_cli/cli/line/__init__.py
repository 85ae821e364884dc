"""How a command line is read, completed and run."""
