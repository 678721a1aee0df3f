"use strict";
// The coverage matrix as the map needs it: rows and columns in some order, cells by row.

explorer.heatData = (data) => {
  const {candidates, units, cells} = data;
  const words = new Map(data.words.map(([row, column, ...said]) => [`${row},${column}`, said.filter(Boolean)]));
  const worth = cells.map((row) => row.reduce((sum, [unit, value]) => sum + units.weight[unit] * value, 0));
  const all = (list) => list.map((_, place) => place);

  const firstSeen = units.weight.map(() => Infinity);
  cells.forEach((row, place) => row.forEach(([unit]) => { firstSeen[unit] = Math.min(firstSeen[unit], place); }));

  const ROWS = {
    stream: (a, b) => a - b,
    kind: (a, b) => candidates.kind[a] - candidates.kind[b] || a - b,
    cost: (a, b) => candidates.cost[a] - candidates.cost[b] || a - b,
    worth: (a, b) => worth[b] - worth[a] || a - b,
  };
  const COLUMNS = {
    // Infinity minus Infinity is NaN: units that no candidate covers keep their order at the end.
    first: (a, b) => firstSeen[a] === firstSeen[b] ? a - b : firstSeen[a] < firstSeen[b] ? -1 : 1,
    weight: (a, b) => units.weight[b] - units.weight[a] || a - b,
    kind: (a, b) => units.kind[a].localeCompare(units.kind[b]) || a - b,
    given: (a, b) => a - b,
  };
  const arranged = (rowOrder, columnOrder, onlyCovering) => {
    const rows = all(candidates.id).filter((row) => !onlyCovering || cells[row].length).sort(ROWS[rowOrder]);
    // The parts of a statement stand together, where the first of them would stand alone.
    const order = COLUMNS[columnOrder], whole = units.whole, lead = new Map();
    for (const unit of all(units.id)) {
      if (!lead.has(whole[unit]) || order(unit, lead.get(whole[unit])) < 0) lead.set(whole[unit], unit);
    }
    const columns = all(units.id).sort(
      (a, b) => whole[a] === whole[b] ? a - b : order(lead.get(whole[a]), lead.get(whole[b])));
    const at = new Array(columns.length);
    columns.forEach((unit, place) => { at[unit] = place; });
    // Cells of a row by place, so that a strip of columns is found by looking at few of them.
    const placed = rows.map((row) => cells[row].map(([unit, value]) => [at[unit], value]).sort((a, b) => a[0] - b[0]));
    return {rows, columns, placed, rowAt: new Map(rows.map((row, place) => [row, place])), columnAt: at};
  };

  const value = (row, unit) => cells[row].find(([other]) => other === unit)?.[1] ?? 0;
  return {arranged, value, words: (row, unit) => words.get(`${row},${unit}`) ?? [], has: {ROWS, COLUMNS}};
};
