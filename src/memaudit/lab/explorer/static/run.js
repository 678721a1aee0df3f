"use strict";
// A run: any part of it ranked, any two of its rows compared, and writers hidden by their kind.

(() => {
  const {get} = explorer;
  const data = explorer.data();
  const form = get("part");
  const fields = ["d", "b", "first", "second"];
  const boxes = [...form.querySelectorAll("input[data-group]")];
  const parts = new Map(Object.entries(data.parts));
  let nextCompared = "first";

  const load = async (d, b) => {
    const key = `${d}|${b}`;
    if (!parts.has(key)) parts.set(key, await explorer.ask(`part.json?d=${encodeURIComponent(d)}&b=${encodeURIComponent(b)}`));
    return parts.get(key);
  };

  const percent = (number) => `${(100 * (number ?? 0)).toFixed(2)}%`;

  const rank = (part) => {
    const table = get("ranking-table").tBodies[0];
    part.places.forEach(([writer, n, mean, low, high], place) => {
      const row = table.querySelector(`[data-name="${writer}"]`);
      const cell = (field) => row.querySelector(`[data-field=${field}]`);
      cell("place").textContent = String(place + 1);
      cell("mean").textContent = explorer.ratio(mean);
      cell("interval").textContent = `${explorer.ratio(low)} to ${explorer.ratio(high)}`;
      cell("n").textContent = explorer.thousands(n);
      table.append(row);
      const line = document.querySelector(`.line[data-name="${writer}"]`);
      const range = line.querySelector(".range");
      range.setAttribute("x1", percent(low));
      range.setAttribute("x2", percent(high));
      line.querySelector(".spot").setAttribute("x", percent(mean));
      line.querySelector(".figure").textContent = explorer.ratio(mean);
      line.querySelector("svg.interval").setAttribute("aria-label", `${data.writers[writer]}: mean ratio ` +
        `${explorer.ratio(mean)}, 95% interval ${explorer.ratio(low)} to ${explorer.ratio(high)}`);
      line.parentElement.append(line);
    });
    const copies = part.distinct === part.packages ? "" : `, ${explorer.thousands(part.distinct)} of them distinct: copies are drawn and tested together`;
    get("scope").textContent = `${explorer.thousands(part.packages)} packages count here${copies}.`;
  };

  const pair = (part, first, second) => {
    const row = part.pairs.find(([a, b]) => (a === first && b === second) || (a === second && b === first));
    if (!row || !get("pair-first")) return;
    const turned = row[0] !== first;
    const [, , n, ...numbers] = row;
    let [mean, low, high] = numbers;
    if (turned && mean !== null) [mean, low, high] = [-mean, -high, -low];
    const words = {first: data.writers[first], second: data.writers[second], mean: explorer.difference(mean),
      interval: `${explorer.ratio(low)} to ${explorer.ratio(high)}`, p: explorer.chance(numbers[3]),
      holm: explorer.chance(numbers[4]), n: explorer.thousands(n), words: numbers[5]};
    for (const [name, text] of Object.entries(words)) get(`pair-${name}`).textContent = text;
    get("pair-range").setAttribute("x1", percent(0.5 + 0.5 * (low ?? 0)));
    get("pair-range").setAttribute("x2", percent(0.5 + 0.5 * (high ?? 0)));
    get("pair-spot").setAttribute("x", percent(0.5 + 0.5 * (mean ?? 0)));
    for (const row of document.querySelectorAll("[data-name]")) {
      row.classList.toggle("in-pair", [first, second].includes(Number(row.dataset.name)));
    }
  };

  const hide = () => {
    const off = new Set(boxes.filter((box) => !box.checked).map((box) => box.dataset.group));
    for (const place of document.querySelectorAll("#ranking [data-group]")) place.hidden = off.has(place.dataset.group);
    return [...off].join(" ");
  };

  const value = (name) => form.elements[name].value;
  const writer = (name) => form.elements[name].selectedIndex;  // the options are in the run's order
  const show = async () => {
    if (value("first") === value("second")) {
      const other = [...form.elements.second.options].find((option) => option.value !== value("first"));
      if (other) form.elements.second.value = other.value;
    }
    const changes = Object.fromEntries(fields.map((name) => [name, value(name)]));
    explorer.state.set({...changes, hide: hide()});
    const key = JSON.stringify(changes);
    const part = await load(value("d"), value("b"));
    if (key !== JSON.stringify(Object.fromEntries(fields.map((name) => [name, value(name)])))) return;
    rank(part);
    pair(part, writer("first"), writer("second"));
  };

  const fromAddress = () => {
    const state = explorer.state.all();
    if (![...state.keys()].length) { hide(); return; }
    for (const name of fields) {
      const wanted = state.get(name) ?? "";
      if ([...form.elements[name].options].some((option) => option.value === wanted)) form.elements[name].value = wanted;
    }
    const off = (state.get("hide") ?? "").split(" ");
    for (const box of boxes) box.checked = !off.includes(box.dataset.group);
    show();
  };

  form.addEventListener("change", show);
  form.addEventListener("submit", (event) => { event.preventDefault(); show(); });
  document.addEventListener("keydown", (event) => {
    const row = document.querySelector(".current[data-name]");
    if (event.key !== "x" || !row || event.target.closest("input, select")) return;
    form.elements[nextCompared].selectedIndex = Number(row.dataset.name);
    nextCompared = nextCompared === "first" ? "second" : "first";
    show();
  });
  window.addEventListener("hashchange", fromAddress);
  pair([...parts.values()][0], writer("first"), writer("second"));
  fromAddress();
})();
