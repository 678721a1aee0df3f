"""README and documentation: every block is checked in the way it declares."""
