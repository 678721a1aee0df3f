"""How far labels of the same cells agree: annotators, their consensus, models and the package."""
