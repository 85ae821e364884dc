"""Where trials run, one module for each; the interface is in :mod:`..trial`."""
