"use strict";
// OPT along the budget as a line of steps, with a cursor; a click chooses a budget.

explorer.curve = (picture, choose) => {
  const {draw} = explorer;
  const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [240, 44, 12, 12, 36];
  let [most, top, width] = [1, 1, 640];
  let cursor = null;

  const x = (budget) => LEFT + (width - LEFT - RIGHT) * Math.min(budget / most, 1);
  const y = (value) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top;

  const ticks = (largest, about) => {
    const rough = largest / about;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((f) => f * power).find((size) => size >= rough * 0.999);
    return Array.from({length: Math.floor(largest / step + 1e-9) + 1}, (_, i) => Number((i * step).toPrecision(10)));
  };

  const axis = () => [
    ...ticks(top, 4).flatMap((value) => [
      draw("line", {class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value)}),
      draw("text", {class: "last", x: LEFT - 6, y: y(value) + 4}, explorer.short(value))]),
    ...ticks(most, width > 450 ? 6 : 4).map((budget) =>
      draw("text", {x: x(budget), y: HEIGHT - BOTTOM + 16}, explorer.short(budget))),
    draw("text", {class: "last", x: width - RIGHT, y: HEIGHT - 5}, "budget"),
  ];

  // A whole frontier is a line of steps; where only some budgets are proven, they are dots, and the
  // shaded boxes between them are where OPT lies.
  const shape = (frontier) => {
    const steps = frontier.steps;
    const parts = [];
    if (frontier.whole) {
      const words = steps.map((step, place) => place ? `H${x(step.b)}V${y(step.v)}` : `M${x(step.b)} ${y(step.v)}`);
      parts.push(draw("path", {class: "opt", d: `${words.join("")}H${x(most)}`}));
    } else {
      steps.slice(1).forEach((step, place) => {
        const last = steps[place];
        // Up to a budget that is not proven OPT may reach its bound, but not what is proven later.
        const later = steps.slice(place + 1).find((next) => next.certified);
        const high = step.certified ? step.v : Math.min(step.bound, later ? later.v : step.bound);
        parts.push(draw("rect", {class: "doubt", x: x(last.b), y: y(high),
          width: Math.max(0, x(step.b) - x(last.b)), height: Math.max(0, y(last.v) - y(high))}));
      });
      parts.push(draw("path", {class: "opt thin", d: `M${steps.map((step) => `${x(step.b)} ${y(step.v)}`).join("L")}`}));
      parts.push(...steps.map((step) => draw("circle", {class: step.certified ? "opt dot" : "opt open",
        cx: x(step.b), cy: y(step.v), r: 2.2})));
    }
    return parts;
  };

  const show = (frontier, points) => {
    width = Math.max(picture.clientWidth, 240);
    picture.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    most = Math.max(frontier.steps.at(-1).b * 1.04, 1e-9);
    top = Math.max(...frontier.steps.map((step) => step.v), ...points.map((point) => point.v), 1e-9) * 1.05;
    cursor = draw("g", {class: "cursor"},
      draw("line", {y1: TOP, y2: HEIGHT - BOTTOM}), draw("circle", {r: 5}));
    picture.replaceChildren(...axis(), ...shape(frontier),
      ...points.map((point) => draw("g", {transform: `translate(${x(point.b)} ${y(point.v)}) scale(0.8)`},
        draw("path", {class: point.writer.look, d: point.writer.sign}), draw("title", {}, point.text))), cursor);
  };

  const point = (budget, value) => {
    if (!cursor) return;
    const [line, spot] = cursor.children;
    for (const name of ["x1", "x2"]) line.setAttribute(name, x(budget));
    spot.setAttribute("cx", x(budget));
    spot.setAttribute("cy", y(value));
  };

  const at = (event) => {
    const box = picture.getBoundingClientRect();
    choose(Math.max(0, (event.clientX - box.left - LEFT) / (width - LEFT - RIGHT) * most));
  };
  picture.addEventListener("pointerdown", (event) => { picture.setPointerCapture(event.pointerId); at(event); });
  picture.addEventListener("pointermove", (event) => { if (event.buttons) at(event); });

  return {show, point, most: () => most};
};
