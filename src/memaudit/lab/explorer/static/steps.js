"use strict";
// The frontier as the package page walks it: steps, the best store of each, and budgets as numbers.

// A number of 0 or more, or a fraction such as 1/3; NaN for any other text.
explorer.asNumber = (text) => {
  const parts = text.trim().split("/");
  const isNumber = (part) => /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(part.trim());
  if (parts.length > 2 || !parts.every(isNumber)) return NaN;
  const [top, bottom = 1] = parts.map(Number);
  return bottom ? top / bottom : NaN;
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
    let last = 0;
    steps.forEach((step, place) => { if (step.b <= amount + NEAR) last = place; });
    return last;
  };

  // A number as the program writes it: steps and budgets of files keep their exact text.
  const known = [...steps.map((step) => [step.b, step.budget]), ...given.map((text) => [asNumber(text), text]),
    ...rows.map((row) => [row.b, row.budget])];
  const text = (amount) => known.find(([b]) => Math.abs(b - amount) < NEAR)?.[1] ?? String(amount);

  // The budget that is meant: between proven budgets nothing is known unless the frontier is whole,
  // and above the last step nothing changes.
  const meant = (amount) => {
    const step = steps[at(amount)];
    if (given.some((budget) => Math.abs(asNumber(budget) - amount) < NEAR)) return amount;
    if (step === steps.at(-1)) return step.b;
    return whole ? Math.max(round ? Math.floor(amount) : amount, step.b) : step.b;
  };

  const first = asNumber(given.length ? given[Math.floor((given.length - 1) / 2)] : steps[Math.floor(steps.length / 2)].budget);
  return {...frontier, stores, at, text, meant, first};
};
