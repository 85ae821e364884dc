"""Findings: the table of rules, and a module for each family of them."""
