"use strict";
// The coverage map: only what is in view is painted, so its size does not matter.

(() => {
  const {get, make} = explorer;
  const data = explorer.data();
  const {candidates, units, kinds, experiences} = data;
  const heat = explorer.heatData(data);
  const map = get("map");
  const canvas = get("heat");
  const painter = explorer.heatPainter(canvas, data);
  const inView = () => ({size: size(), left: map.scrollLeft / size(), top: map.scrollTop / size(),
    right: (map.scrollLeft + map.clientWidth - side()) / size(), bottom: (map.scrollTop + map.clientHeight - HEAD) / size()});
  const overview = explorer.heatOverview(get("overview"), map, inView);
  const controls = {rows: get("row-order"), columns: get("column-order"), covering: get("covering"), zoom: get("zoom")};
  const HEAD = 92;
  const side = () => map.clientWidth < 500 ? 84 : 150;
  let arranged = null;
  let cursor = null;      // [row, column] as places in the arrangement
  let pinned = false;
  let waiting = false;

  const size = () => Number(controls.zoom.value);

  const paint = () => {
    waiting = false;
    painter.paint(arranged, {left: map.scrollLeft, top: map.scrollTop, width: map.clientWidth,
      height: map.clientHeight, size: size(), side: side(), head: HEAD, cursor});
    overview.paint(arranged);
  };
  const soon = () => { if (!waiting) { waiting = true; requestAnimationFrame(paint); } };

  const arrange = () => {
    const selected = cursor && [arranged.rows[cursor[0]], arranged.columns[cursor[1]]];
    arranged = heat.arranged(controls.rows.value, controls.columns.value, controls.covering.checked);
    cursor = selected && arranged.rowAt.has(selected[0]) ? [arranged.rowAt.get(selected[0]), arranged.columnAt[selected[1]]] : null;
    fit();
  };
  const fit = () => {
    get("map-size").style.width = `${side() + arranged.columns.length * size()}px`;
    get("map-size").style.height = `${HEAD + arranged.rows.length * size()}px`;
    soon();
  };

  const tell = () => {
    if (!cursor) return;
    const row = arranged.rows[cursor[0]];
    const unit = arranged.columns[cursor[1]];
    const value = heat.value(row, unit);
    const at = candidates.experience[row];
    get("cell").replaceChildren(
      make("p", {class: "big"}, make("b", {}, explorer.short(value)), " ", make("span", {class: "muted"}, "covered")),
      make("h3", {}, "Candidate"),
      make("p", {class: "muted small"}, `${kinds[candidates.kind[row]]} · cost ${explorer.short(candidates.cost[row])} · experience ${at + 1}` +
        (experiences.time[at] ? ` · ${experiences.time[at]}` : "")),
      make("p", {class: "text", dir: "auto"}, candidates.text[row] || candidates.id[row]),
      make("p", {}, make("a", {href: `stream.html#${candidates.anchor[row]}`, id: "cell-texts"}, "in the stream")),
      make("h3", {}, "Unit"),
      make("p", {class: "muted small"}, `${units.kind[unit]} · weight ${explorer.short(units.weight[unit])} · ${units.id[unit]}`),
      make("p", {class: "text", dir: "auto"}, units.text[unit] || units.id[unit]),
      ...heat.words(row, unit).length ? [make("h3", {}, "Who says so"), make("p", {class: "text", dir: "auto"}, heat.words(row, unit).join(" · "))] : []);
  };

  const moveTo = (row, column, keep) => {
    row = Math.min(Math.max(row, 0), arranged.rows.length - 1);
    column = Math.min(Math.max(column, 0), arranged.columns.length - 1);
    if (row < 0 || column < 0 || (cursor && cursor[0] === row && cursor[1] === column && !keep)) return;
    cursor = [row, column];
    tell();
    soon();
    if (keep) explorer.state.set({cell: `${candidates.anchor[arranged.rows[row]]} ${data.unit_anchors[arranged.columns[column]]}`});
  };

  const into = () => {
    const [row, column] = cursor;
    const step = size();
    if (row * step < map.scrollTop) map.scrollTop = row * step;
    if ((row + 1) * step > map.scrollTop + map.clientHeight - HEAD) map.scrollTop = (row + 1) * step - map.clientHeight + HEAD;
    if (column * step < map.scrollLeft) map.scrollLeft = column * step;
    if ((column + 1) * step > map.scrollLeft + map.clientWidth - side()) map.scrollLeft = (column + 1) * step - map.clientWidth + side();
  };

  // The next covered cell after the cursor, row by row, from the start again after the end.
  const nextCovered = () => {
    const [row, column] = cursor ?? [0, -1];
    for (let step = 0; step <= arranged.rows.length; step += 1) {
      const at = (row + step) % arranged.rows.length;
      const next = arranged.placed[at]?.find(([place]) => step > 0 || place > column);
      if (next) return [at, next[0]];
    }
    return null;
  };

  const under = (event) => {
    const edge = canvas.getBoundingClientRect();
    const [left, top] = [event.clientX - edge.left - side(), event.clientY - edge.top - HEAD];
    if (left < 0 || top < 0) return null;
    const place = [Math.floor((top + map.scrollTop) / size()), Math.floor((left + map.scrollLeft) / size())];
    return place[0] < arranged.rows.length && place[1] < arranged.columns.length ? place : null;
  };

  canvas.addEventListener("pointermove", (event) => { const place = under(event); if (place && !pinned) moveTo(...place, false); });
  canvas.addEventListener("click", (event) => {
    const place = under(event);
    pinned = Boolean(place) && !(pinned && cursor && place[0] === cursor[0] && place[1] === cursor[1]);
    if (place) moveTo(...place, true);
  });
  map.addEventListener("scroll", soon, {passive: true});
  map.addEventListener("keydown", (event) => {
    const steps = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageDown: [20, 0], PageUp: [-20, 0]};
    if (steps[event.key]) {
      const [row, column] = cursor ?? [-1, 0];
      moveTo(row + steps[event.key][0], column + steps[event.key][1], true);
      pinned = true;
      into();
    } else if (event.key === "n") {
      const next = nextCovered();
      if (next) { moveTo(...next, true); pinned = true; into(); }
    } else if (event.key === "Enter") get("cell-texts")?.click();
    else if (event.key === "Escape") { pinned = false; map.blur(); }
    else if ("+-".includes(event.key)) { controls.zoom.value = String(size() + (event.key === "+" ? 2 : -2)); fit(); }
    else return;
    event.preventDefault();
  });

  const save = () => explorer.state.set({rows: controls.rows.value, columns: controls.columns.value,
    all: controls.covering.checked ? "" : "1", zoom: controls.zoom.value});
  for (const control of [controls.rows, controls.columns, controls.covering]) {
    control.addEventListener("change", () => { arrange(); save(); });
  }
  controls.zoom.addEventListener("input", () => { fit(); save(); });

  const fromAddress = () => {
    const state = explorer.state.all();
    if (heat.has.ROWS[state.get("rows")]) controls.rows.value = state.get("rows");
    if (heat.has.COLUMNS[state.get("columns")]) controls.columns.value = state.get("columns");
    if (state.get("zoom")) controls.zoom.value = state.get("zoom");
    const [candidate, unit] = (state.get("cell") ?? "").split(" ");
    const [row, column] = [candidates.anchor.indexOf(candidate), data.unit_anchors.indexOf(unit)];
    controls.covering.checked = !state.get("all") && data.cells[row]?.length !== 0;
    arrange();
    if (row >= 0 && column >= 0) {
      pinned = true;
      moveTo(arranged.rowAt.get(row), arranged.columnAt[column], true);
      into();
    } else if (candidate) get("cell").textContent = "This package does not have the cell of the address.";
  };

  if (!explorer.state.get("zoom")) {
    const room = (map.clientWidth - side()) / units.id.length;
    controls.zoom.value = String(Math.min(18, Math.max(6, Math.floor(room))));
  }
  explorer.onNight(() => { painter.look(); soon(); });
  explorer.onResize(map, () => { if (arranged) fit(); });
  window.addEventListener("hashchange", fromAddress);
  fromAddress();
})();
