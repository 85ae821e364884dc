"""The search for the smallest list, as pure generators: they yield questions and are sent the answers."""
