"use strict";
// The whole map in small, with a frame around what is in view; a press moves the frame.

explorer.heatOverview = (canvas, map, inView) => {
  const HIGH = 170;
  let shape = [1, 1];

  const paint = (arranged) => {
    const [rows, columns] = shape = [Math.max(arranged.rows.length, 1), Math.max(arranged.columns.length, 1)];
    const scale = window.devicePixelRatio || 1;
    const wide = canvas.clientWidth;
    canvas.width = Math.ceil(wide * scale);
    canvas.height = Math.ceil(HIGH * scale);
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.fillStyle = `rgb(${explorer.colour("--shade")} / 0.75)`;
    const [width, height] = [Math.max(wide / columns, 1.2), Math.max(HIGH / rows, 1.2)];
    arranged.placed.forEach((cells, row) => {
      for (const [column] of cells) pen.fillRect(column / columns * wide, row / rows * HIGH, width, height);
    });
    const {left, top, right, bottom} = inView();
    pen.strokeStyle = explorer.colour("--star");
    pen.lineWidth = 2;
    pen.strokeRect(left / columns * wide + 1, top / rows * HIGH + 1,
      Math.max((Math.min(right, columns) - left) / columns * wide - 2, 4),
      Math.max((Math.min(bottom, rows) - top) / rows * HIGH - 2, 4));
  };

  const move = (event) => {
    const edge = canvas.getBoundingClientRect();
    const {left, top, right, bottom, size} = inView();
    const [rows, columns] = shape;
    map.scrollLeft = ((event.clientX - edge.left) / edge.width * columns - (right - left) / 2) * size;
    map.scrollTop = ((event.clientY - edge.top) / edge.height * rows - (bottom - top) / 2) * size;
  };
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); move(event); });
  canvas.addEventListener("pointermove", (event) => { if (event.buttons) move(event); });

  return {paint};
};
