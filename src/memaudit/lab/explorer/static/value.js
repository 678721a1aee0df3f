"use strict";
// What stores are worth, for display: the sums the program does in fractions, here in floats.

explorer.values = (data) => {
  const {units, cells, candidates} = data;
  const NEAR = 1e-9;

  const h = (unit, amount) => {
    let [shape, z] = [units.h[unit], amount];
    if (typeof shape === "number") return Math.min(shape, z);
    if (Array.isArray(shape) && typeof shape[0] === "string") [shape, z] = [shape[0], Math.min(shape[1], z)];
    if (shape === "sqrt") return Math.sqrt(z);
    if (shape === "log1p") return Math.log1p(z);
    if (shape === "saturating") return 1 - Math.exp(-z);
    let [x, y] = [0, 0];
    for (const [right, top] of shape) {
      if (z <= right) return y + (top - y) * (z - x) / (right - x);
      [x, y] = [right, top];
    }
    return y;
  };

  // An item is a candidate by its place, or a memory of a system with cells of its own.
  const cellsOf = (item) => typeof item === "number" ? cells[item] : item.cells;
  const costOf = (item) => typeof item === "number" ? candidates.cost[item] : item.cost;

  const amounts = (items) => {
    const sums = new Float64Array(units.weight.length);
    for (const item of items) for (const [unit, value] of cellsOf(item)) sums[unit] += value;
    return sums;
  };

  const worth = (unit, amount) => units.weight[unit] * h(unit, amount);

  const value = (items) => {
    let sum = 0;
    amounts(items).forEach((amount, unit) => { if (amount) sum += worth(unit, amount); });
    return sum;
  };

  // Items without which the store is worth the same, the most expensive taken out first.
  const wasted = (items) => {
    const left = amounts(items);
    const order = items.map((item, place) => [item, place])
      .sort((a, b) => costOf(b[0]) - costOf(a[0]) || b[1] - a[1]);
    const unused = new Set();
    for (const [item] of order) {
      const same = ([unit, part]) => Math.abs(worth(unit, left[unit]) - worth(unit, left[unit] - part)) < NEAR;
      if (!cellsOf(item).every(same)) continue;
      unused.add(item);
      for (const [unit, part] of cellsOf(item)) left[unit] -= part;
    }
    return unused;
  };

  // Units that are worth more in one store than in the other, the largest difference first.
  const changes = (best, other) => {
    const [ours, theirs] = [amounts(best), amounts(other)];
    const rows = [];
    units.weight.forEach((weight, unit) => {
      const change = worth(unit, theirs[unit]) - worth(unit, ours[unit]);
      if (Math.abs(change) > NEAR) rows.push({unit, change, ours: ours[unit], theirs: theirs[unit]});
    });
    return rows.sort((a, b) => Math.abs(b.change) - Math.abs(a.change) || a.unit - b.unit);
  };

  // How much of what a query requires is covered, from 0 to 1, each unit counted by its weight.
  const covered = (required, amount) => {
    let [sum, count] = [0, 0];
    for (const unit of required) {
      const full = typeof units.h[unit] === "number" ? h(unit, units.h[unit]) : h(unit, 1);
      count += 1;
      sum += full ? Math.min(1, h(unit, amount[unit]) / full) : 0;
    }
    return count ? sum / count : null;
  };

  return {amounts, value, wasted, changes, covered, costOf};
};
