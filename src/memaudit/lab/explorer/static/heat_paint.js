"use strict";
// Paints the part of the map that is in view: the cells, then the labels over them.

explorer.heatPainter = (canvas, data) => {
  const {candidates, units, kinds, kind_looks} = data;
  let colours = {};

  const look = () => {
    for (const name of ["--ink", "--muted", "--line", "--paper", "--panel", "--accent", "--shade", "--star-paper", "--on-fill"]) {
      colours[name] = explorer.colour(name);
    }
    for (const [tone] of kind_looks) colours[`--fill${tone}`] = explorer.colour(`--fill${tone}`);
  };

  const cut = (pen, text, room) => {
    if (pen.measureText(text).width <= room) return text;
    let length = Math.max(1, Math.floor(text.length * room / pen.measureText(text).width) - 1);
    while (length > 1 && pen.measureText(`${text.slice(0, length)}…`).width > room) length -= 1;
    return `${text.slice(0, length)}…`;
  };

  // view: {left, top, width, height, size, side, head, cursor: [row, column] or null}
  const paint = (arranged, view) => {
    const {size, side, head} = view;
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.ceil(view.width * scale);
    canvas.height = Math.ceil(view.height * scale);
    canvas.style.width = `${view.width}px`;
    canvas.style.height = `${view.height}px`;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.fillStyle = colours["--paper"];
    pen.fillRect(0, 0, view.width, view.height);
    const firstRow = Math.floor(view.top / size);
    const lastRow = Math.min(arranged.rows.length - 1, Math.floor((view.top + view.height - head) / size));
    const firstColumn = Math.floor(view.left / size);
    const lastColumn = Math.min(arranged.columns.length - 1, Math.floor((view.left + view.width - side) / size));
    const x = (column) => side + column * size - view.left;
    const y = (row) => head + row * size - view.top;
    const [cursorRow, cursorColumn] = view.cursor ?? [-1, -1];

    const [right, bottom] = [x(lastColumn + 1), y(lastRow + 1)];
    pen.fillStyle = colours["--panel"];
    for (let row = firstRow; row <= lastRow; row += 1) if (row % 2) pen.fillRect(side, y(row), right - side, size);
    if (cursorRow >= 0) {
      pen.fillStyle = colours["--star-paper"];
      pen.fillRect(side, y(cursorRow), right - side, size);
      pen.fillRect(x(cursorColumn), head, size, bottom - head);
    }
    const gap = size > 8 ? 1 : 0;
    for (let row = firstRow; row <= lastRow; row += 1) {
      for (const [column, value] of arranged.placed[row]) {
        if (column < firstColumn) continue;
        if (column > lastColumn) break;
        pen.fillStyle = `rgb(${colours["--shade"]} / ${0.25 + 0.75 * value})`;
        pen.fillRect(x(column) + gap, y(row) + gap, size - 2 * gap, size - 2 * gap);
      }
    }
    if (cursorRow >= 0) {
      pen.strokeStyle = colours["--ink"];
      pen.lineWidth = 2;
      pen.strokeRect(x(cursorColumn) + 1, y(cursorRow) + 1, Math.max(size - 2, 2), Math.max(size - 2, 2));
    }
    labels(pen, arranged, view, {firstRow, lastRow, firstColumn, lastColumn, x, y});
  };

  const labels = (pen, arranged, view, {firstRow, lastRow, firstColumn, lastColumn, x, y}) => {
    const {size, side, head} = view;
    const [cursorRow, cursorColumn] = view.cursor ?? [-1, -1];
    const small = size < 11;
    const font = `${Math.min(12, Math.max(10, size - 2))}px system-ui, sans-serif`;
    pen.fillStyle = colours["--paper"];
    pen.fillRect(0, 0, side, view.height);
    pen.fillRect(0, 0, view.width, head);
    pen.font = font;
    pen.textBaseline = "middle";
    for (let row = firstRow; row <= lastRow; row += 1) {
      const candidate = arranged.rows[row];
      if (y(row) + size / 2 < head) continue;
      const [tone, letters] = kind_looks[candidates.kind[candidate]];
      pen.fillStyle = colours[`--fill${tone}`];
      pen.fillRect(side - 20, y(row), 18, Math.max(size - 1, 1));
      if (!small) {
        pen.fillStyle = colours["--on-fill"];
        pen.textAlign = "center";
        pen.fillText(letters, side - 11, y(row) + size / 2);
      }
      if (small && row !== cursorRow) continue;
      pen.fillStyle = row === cursorRow ? colours["--ink"] : colours["--muted"];
      pen.textAlign = "right";
      pen.fillText(cut(pen, candidates.id[candidate], side - 28), side - 24, y(row) + size / 2);
    }
    pen.textAlign = "left";
    for (let column = firstColumn; column <= lastColumn; column += 1) {
      if (small && column !== cursorColumn) continue;
      const unit = arranged.columns[column];
      if (x(column) + size / 2 < side) continue;
      pen.save();
      pen.translate(x(column) + size / 2, head - 6);
      pen.rotate(-Math.PI / 3);
      pen.fillStyle = column === cursorColumn ? colours["--ink"] : colours["--muted"];
      pen.fillText(cut(pen, units.id[unit], head * 1.02), 0, 0);
      pen.restore();
    }
    pen.fillStyle = colours["--line"];
    pen.fillRect(side - 1, head - 1, view.width, 1);
    pen.fillRect(side - 1, head - 1, 1, view.height);
    pen.fillStyle = colours["--paper"];
    pen.fillRect(0, 0, side - 1, head - 1);
    pen.fillStyle = colours["--muted"];
    pen.textAlign = "left";
    pen.font = "11px system-ui, sans-serif";
    pen.fillText(`${explorer.thousands(arranged.rows.length)} candidates ↓`, 4, head - 12);
    pen.fillText(`${explorer.thousands(arranged.columns.length)} units →`, 4, head - 28);
    pen.textBaseline = "alphabetic";
  };

  look();
  return {paint, look, kinds};
};
