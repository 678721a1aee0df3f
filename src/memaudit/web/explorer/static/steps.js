"use strict";
// The frontier as the package page walks it: steps, the best store of each, and budgets as numbers.

explorer.asNumber = (text) => {
  const [top, bottom] = text.split("/").map(Number);
  return bottom ? top / bottom : top;
};

explorer.steps = (frontier, rows) => {
  const {asNumber} = explorer;
  const {steps, given, whole} = frontier;
  const NEAR = 1e-9;
  const now = new Set();
  const stores = steps.map((step) => {
    step.out.forEach((item) => now.delete(item));
    step.in.forEach((item) => now.add(item));
    return [...now].sort((a, b) => a - b);
  });
  const round = steps.every((step) => Number.isInteger(step.b));

  // The last step that a budget pays for.
  const at = (amount) => {
    let found = 0;
    steps.forEach((step, place) => { if (step.b <= amount + NEAR) found = place; });
    return found;
  };

  // A number as the program writes it: steps and budgets of files keep their exact text.
  const known = [...steps.map((step) => [step.b, step.budget]), ...given.map((text) => [asNumber(text), text]),
    ...rows.map((row) => [row.b, row.budget])];
  const text = (amount) => known.find(([b]) => Math.abs(b - amount) < NEAR)?.[1] ?? String(amount);

  // The budget that is meant: between proven budgets nothing is known unless the frontier is whole.
  const meant = (amount) => {
    const step = steps[at(amount)];
    if (given.some((one) => Math.abs(asNumber(one) - amount) < NEAR)) return amount;
    return whole ? Math.max(round ? Math.floor(amount) : amount, step.b) : step.b;
  };

  const first = asNumber(given.length ? given[Math.floor((given.length - 1) / 2)] : steps[Math.floor(steps.length / 2)].budget);
  return {...frontier, stores, at, text, meant, first};
};
