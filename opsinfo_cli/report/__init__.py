"""One module per output format. With ``cli`` the only place that knows click or rich."""
