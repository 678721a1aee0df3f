"""The step in which store values come: knowing it lets a bound just short of one step close."""

from math import gcd

from memaudit.solvers.form import Form


def granularity(form: Form) -> int:
    """A number of which every store's scaled value is a multiple; 1 where nothing is known."""
    if any(level.table is None for level in form.levels):
        return 1
    strides = [0] * len(form.levels)
    for row in form.rows:
        for unit, amount in row:
            strides[unit] = gcd(strides[unit], amount)
    step = 0
    for level, stride in zip(form.levels, strides, strict=True):
        # A sum of amounts is a multiple of their gcd, or it is cut off at the top.
        reached = (level.table or ())[:: stride or 1]
        step = gcd(step, *reached, level.value(level.top))
    return step or 1
