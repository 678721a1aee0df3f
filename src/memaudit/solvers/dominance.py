"""Candidates that some best store can do without, whatever else it keeps."""

from memaudit.solvers.form import Form


def undominated(form: Form) -> list[int]:
    """Affordable candidates that cover something; at cap 1, none that its group can better.

    The certificate checker starts from the same set, so proofs may leave the others out.
    """
    rows = [{unit: min(z, form.levels[unit].top) for unit, z in row} for row in form.rows]

    def beats(v: int, u: int) -> bool:
        at_least = form.cost[v] <= form.cost[u] and all(
            rows[v].get(unit, 0) >= z for unit, z in rows[u].items()
        )
        equal = at_least and form.cost[v] == form.cost[u] and rows[v] == rows[u]
        return v != u and at_least and (v < u or not equal)

    able = [[u for u in group if rows[u] and form.cost[u] <= form.budget] for group in form.groups]
    return [
        u
        for group in able
        for u in group
        if form.group_cap > 1 or not any(beats(v, u) for v in group)
    ]
