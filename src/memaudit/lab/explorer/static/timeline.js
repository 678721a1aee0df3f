"use strict";
// The stream as a strip: a column an experience, a block a candidate. A block has the colour and the
// letters of its kind, or those of what became of it.

explorer.timeline = (canvas, data, said) => {
  const {experiences, candidates, kinds, kind_looks, sessions} = data;
  const box = canvas.parentElement;
  const columns = experiences.session.map(() => []);
  candidates.experience.forEach((column, place) => columns[column].push(place));
  const tallest = Math.max(1, ...columns.map((column) => column.length));
  const FOOT = 18;
  let marks = new Map();    // candidate to what became of it
  const [LETTERS, SIGN] = [15, 9];  // how wide a block must be for letters, and for a sign
  let cursor = -1;
  const HIGH = 13;
  let size = 8;           // how wide a column is
  let colours = {};

  const look = () => {
    colours = Object.fromEntries(["--ink", "--muted", "--line", "--paper", "--on-fill",
      ...Object.values(explorer.compared).map(([, name]) => name),
      ...kind_looks.map(([tone]) => `--fill${tone}`)].map((name) => [name, explorer.colour(name)]));
  };

  const place = (candidate) => {
    const column = candidates.experience[candidate];
    return [column * size, canvas.clientHeight - FOOT - (columns[column].indexOf(candidate) + 1) * HIGH];
  };

  const paint = () => {
    const wide = Math.max(box.clientWidth, columns.length * 5);
    size = Math.min(90, Math.max(5, Math.floor(wide / Math.max(columns.length, 1))));
    const [width, height] = [columns.length * size, tallest * HIGH + FOOT + 4];
    const scale = Math.min(window.devicePixelRatio || 1, 32000 / Math.max(width, 1));
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    canvas.width = Math.ceil(width * scale);
    canvas.height = Math.ceil(height * scale);
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    let last = -1;
    let free = 0;         // where the next name of a session may stand
    pen.font = "10px system-ui, sans-serif";
    columns.forEach((column, at) => {
      if (experiences.session[at] !== last) {
        last = experiences.session[at];
        pen.fillStyle = colours["--line"];
        pen.fillRect(at * size, 0, 1, height - 4);
        const name = sessions[last].slice(-12);
        if (name && at * size >= free) {
          pen.fillStyle = colours["--muted"];
          pen.fillText(name, at * size + 3, height - 6);
          free = at * size + pen.measureText(name).width + 12;
        }
      }
      column.forEach((candidate) => {
        const [left, up] = place(candidate);
        const mark = explorer.compared[marks.get(candidate)];
        const [tone, letters] = kind_looks[candidates.kind[candidate]];
        pen.fillStyle = pen.strokeStyle = colours[mark ? mark[1] : `--fill${tone}`];
        if (size < SIGN && marks.get(candidate) === "missed") pen.strokeRect(left + 1, up + 1, size - 2, HIGH - 2);
        else if (size < SIGN && marks.get(candidate) === "instead") pen.fillRect(left + 0.5, up + HIGH / 2, size - 1, HIGH / 2 - 0.5);
        else pen.fillRect(left + 0.5, up + 0.5, size - 1, HIGH - 1);
        if (size < (mark ? SIGN : LETTERS)) return;
        pen.fillStyle = colours[mark ? "--paper" : "--on-fill"];
        pen.textAlign = "center";
        pen.fillText(mark ? mark[0] : letters, left + size / 2, up + HIGH - 3);
        pen.textAlign = "start";
      });
    });
    if (cursor >= 0) {
      const [left, up] = place(cursor);
      pen.strokeStyle = colours["--ink"];
      pen.lineWidth = 2;
      pen.strokeRect(left, up, size, HIGH);
    }
  };

  const tell = (candidate) => {
    const at = candidates.experience[candidate];
    said.textContent = `${kinds[candidates.kind[candidate]]}, cost ${explorer.short(candidates.cost[candidate])}, ` +
      `experience ${at + 1}${experiences.time[at] ? ` (${experiences.time[at]})` : ""}: ` +
      (candidates.text[candidate] || candidates.id[candidate]);
  };

  const under = (event) => {
    const edge = canvas.getBoundingClientRect();
    const column = columns[Math.floor((event.clientX - edge.left) / size)];
    const up = Math.floor((canvas.clientHeight - FOOT - (event.clientY - edge.top)) / HIGH);
    return column?.[up] ?? -1;
  };

  const moveTo = (candidate) => {
    if (candidate < 0 || candidate >= candidates.id.length || candidate === cursor) return;
    cursor = candidate;
    paint();
    tell(candidate);
  };
  const open = () => { if (cursor >= 0) location.href = `stream.html#${candidates.anchor[cursor]}`; };

  canvas.addEventListener("pointermove", (event) => moveTo(under(event)));
  canvas.addEventListener("click", (event) => { if (under(event) >= 0) { moveTo(under(event)); open(); } });
  box.addEventListener("keydown", (event) => {
    const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: 1, ArrowDown: -1}[event.key];
    if (event.key === "Enter") open();
    else if (step) {
      moveTo(Math.min(Math.max(cursor + step, 0), candidates.id.length - 1));
      box.scrollLeft = place(cursor)[0] - box.clientWidth / 2;
    } else return;
    event.preventDefault();
  });
  look();
  explorer.onNight(() => { look(); paint(); });
  explorer.onResize(box, paint);

  return {mark(stores) { marks = stores; paint(); }};
};
