"""From conversations to packages: what the writer may see is made apart from what is asked."""
