"""What other labels do to ratios: the same stores scored again under every label set."""
