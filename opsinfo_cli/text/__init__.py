"""JSON text with spans: parse, locate, splice in the file's own style. Knows nothing of operators."""
