"""What random programs are drawn from, in tables of text."""
