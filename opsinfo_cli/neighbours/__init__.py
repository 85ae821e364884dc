"""Other systems' lists of operators, one module each, through one neutral vocabulary."""
