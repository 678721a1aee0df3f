"""Everything of the paper that can be computed here, in one folder that can be checked again."""
