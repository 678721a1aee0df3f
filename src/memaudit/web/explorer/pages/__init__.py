"""One page a file: what it shows and where it stands."""
