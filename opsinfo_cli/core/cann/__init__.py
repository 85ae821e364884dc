"""Models of the engine: policies, libraries, stores, installs, mixlists, modes. Values; the only I/O is reading."""
