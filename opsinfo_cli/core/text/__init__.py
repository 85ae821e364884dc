"""JSON text with spans: parse, locate, and edit in the file's own style. Knows nothing of operators."""
