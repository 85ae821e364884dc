"""Findings: one rule, one function, one entry in the rule table."""
