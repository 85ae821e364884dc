"""Shared parts of commands: opening targets and mixlists, options, warnings."""
