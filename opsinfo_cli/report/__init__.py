"""What people and machines read: streams, reports for machines, one view per answer."""
