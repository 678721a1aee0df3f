"""One module per page: what it shows and its address."""
