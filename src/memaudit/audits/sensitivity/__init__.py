"""How far scores of exported stores depend on choices: cost rule, group cap, labels."""
