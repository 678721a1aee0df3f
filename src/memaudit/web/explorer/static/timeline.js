"use strict";
// The stream as a strip: a column an experience, a square a candidate, coloured by what became of it.

explorer.timeline = (canvas, data, said) => {
  const {experiences, candidates, kinds, sessions} = data;
  const box = canvas.parentElement;
  const columns = experiences.session.map(() => []);
  candidates.experience.forEach((column, place) => columns[column].push(place));
  const tallest = Math.max(1, ...columns.map((column) => column.length));
  const FOOT = 18;
  let marks = new Map();    // candidate to the name of its colour
  let cursor = -1;
  const HIGH = 13;
  let size = 8;           // how wide a column is
  let colours = {};

  const look = () => {
    colours = Object.fromEntries(["--accent", "--ink", "--muted", "--line", "--paper", "--t2", "--t3", "--t4",
      ...Array.from({length: 12}, (_, i) => `--k${i + 1}`)].map((name) => [name, explorer.colour(name)]));
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
        pen.globalAlpha = 1;
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
        const mark = marks.get(candidate);
        pen.globalAlpha = mark ? 1 : 0.6;
        pen.fillStyle = colours[mark ?? `--k${candidates.kind[candidate] % 12 + 1}`];
        pen.fillRect(left + 0.5, up + 0.5, size - 1, HIGH - 1);
      });
    });
    pen.globalAlpha = 1;
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
  new ResizeObserver(paint).observe(box);

  return {mark(stores) { marks = stores; paint(); }};
};
