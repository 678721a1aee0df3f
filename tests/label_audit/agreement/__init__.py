"""How far labels agree: coefficients, intervals, consensus, groups."""
