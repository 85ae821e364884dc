"""Findings: the rule table, and one function for each rule."""
