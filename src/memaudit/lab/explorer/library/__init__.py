"""The contents of the given folders: recognised quickly, opened when a page needs them."""
