"""What pages show, worked out from packages and runs; nothing here knows of HTML."""
