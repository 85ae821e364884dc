"""Moves become patches (pure), patches become files: the writer, its locks and the vault."""
