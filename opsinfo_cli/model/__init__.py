"""What the engine computes: policies, libraries, stores, installs, mixlists, modes. Values; no I/O but reading."""
