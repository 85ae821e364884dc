"""JSON text with spans: parse, locate, edit in the file's own style. Independent of operators."""
