"""Differences of two targets: by policy, by marks, by section."""
