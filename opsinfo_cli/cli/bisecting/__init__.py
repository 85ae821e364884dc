"""What only `bisect` needs: what is searched, where trials run, and what becomes of the answer."""
