"""One module per answer: for people, for pipes and as a JSON document."""
