"""People's own labels: units, memories and coverage, from JSONL or CSV."""
