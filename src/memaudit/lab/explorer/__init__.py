"""The explorer: everything in some folders as linked pages, served or written as a static site."""
