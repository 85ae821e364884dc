"""The smallest list of op types that makes a user's check pass: search, trials, journal, places where trials run."""
