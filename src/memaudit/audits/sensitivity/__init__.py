"""How far scores of exported stores depend on choices: judge, cost rule, group cap, labels."""
