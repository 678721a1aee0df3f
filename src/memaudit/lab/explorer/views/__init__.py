"""What pages show, computed from packages and runs. No HTML here."""
