"""The command line: the verbs, how a line is read and run, and what verbs share."""
