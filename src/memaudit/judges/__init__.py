"""Who decides what a memory covers: labels, a model, or an estimate."""
