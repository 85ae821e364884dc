"""The editor: policies, libraries and mixlists, their changes, checks and comparison. It imports no other room."""
