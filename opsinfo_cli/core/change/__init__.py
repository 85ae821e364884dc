"""Plans turn moves into patches (pure); the writer, its locks and the vault turn patches into files."""
