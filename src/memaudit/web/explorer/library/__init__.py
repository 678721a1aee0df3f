"""What some folders hold: found by a cheap look, opened when a page needs it."""
