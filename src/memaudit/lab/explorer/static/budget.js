"use strict";
// The package page: a budget on the frontier, the best store there, and another store beside it.

(() => {
  const {get, make} = explorer;
  const data = explorer.data();
  const values = explorer.values(data);
  const lists = explorer.memories(data);
  const others = explorer.others(data);
  const compare = explorer.sideBySide(data, values, lists);
  const strip = explorer.timeline(get("timeline"), data, get("pointed"));
  const [slider, number, problem, select, note] = ["slider", "budget-number", "budget-problem", "other", "other-note"].map(get);
  const SLICES = 20;          // how often a server is asked to work on
  let frontier = null;
  let budget = 0;             // as a number
  let shown = 0;              // counts views: an answer that comes too late is not for this one

  const curve = explorer.curve(get("curve"), (chosen) => choose(chosen));

  const take = (answer) => {
    frontier = explorer.steps(answer, data.rows);
    for (const input of [slider, number]) input.disabled = false;
    get("frontier-note").textContent = answer.note;
    get("slider-stage").setAttribute("aria-busy", "false");
    draw();
  };

  const draw = () => {
    const drawn = points();
    curve.show(frontier, drawn);
    const writers = new Map(drawn.map(({writer}) => [writer.name, writer]));
    get("points-key").replaceChildren(...[...writers.values()].map((writer) => make("li", {},
      explorer.draw("svg", {class: "key", viewBox: "-7 -7 14 14", "aria-hidden": "true"},
        explorer.draw("path", {class: writer.look, d: writer.sign})), writer.label)));
    slider.max = String(curve.most());
  };
  explorer.onResize(get("slider-stage"), () => { if (frontier) { draw(); curve.point(budget, frontier.steps[frontier.at(budget)].v); } });

  const points = () => data.rows.filter((row) => row.value !== null && row.writer.group !== "reference")
    .map((row) => ({b: row.b, v: row.value, writer: row.writer, text: `${row.writer.label} in ${row.run}: ${explorer.short(row.value)} at ${row.budget}`}));

  const choose = (amount, keep = true) => {
    if (!frontier) return;
    budget = frontier.meant(amount);
    problem.textContent = "";
    if (keep) explorer.state.set({b: frontier.text(budget)});
    show();
  };

  const tellNumber = () => { number.value = String(Number(budget.toPrecision(8))); };

  const tellStep = (at) => {
    const step = frontier.steps[at];
    const next = frontier.steps[at + 1];
    get("opt-value").textContent = explorer.short(step.v);
    const share = frontier.total ? ` · ${Math.round(100 * step.v / frontier.total)}% of the weight of all units` : "";
    get("opt-words").textContent = `${frontier.stores[at].length} ${frontier.stores[at].length === 1 ? "memory" : "memories"}${share}. ` + (frontier.whole ?
      (next ? `The same up to ${next.budget}, then ${explorer.short(next.v)}.` : "More budget adds nothing.") : "");
    const proof = get("proof");
    proof.hidden = false;
    proof.className = `badge ${step.certified ? "good" : "bad"}`;
    proof.textContent = step.certified ? "certified: no store within this budget is worth more" :
      `not proven: OPT may be up to ${explorer.short(step.bound)}`;
    const moved = (title, items) => items.length ? [make("p", {class: "small muted"}, title),
      make("ul", {class: "memories"}, ...items.slice(0, 3).map((item) => lists.memory(item, false)),
        items.length > 3 ? make("li", {class: "muted"}, `and ${items.length - 3} more`) : null)] : [];
    get("moved").replaceChildren(...(at ? [...moved("New at this step", step.in), ...moved("Given up for it", step.out)] : []));
  };

  const legend = (names) => get("legend").replaceChildren(...names.map(([tone, text]) =>
    make("span", {class: "legend-item"}, make("span", {class: `compared compared-${tone}`}), text)));

  const show = async () => {
    const at = frontier.at(budget);
    const step = frontier.steps[at];
    const turn = shown += 1;
    slider.value = String(budget);
    slider.setAttribute("aria-valuetext", `budget ${frontier.text(budget)}, value ${step.value}`);
    if (document.activeElement !== number) tellNumber();
    curve.point(budget, step.v);
    tellStep(at);
    const amount = values.amounts(frontier.stores[at]);
    for (const row of document.querySelectorAll("[data-query]")) {
      const share = values.covered(data.queries[Number(row.dataset.query)], amount);
      const cell = row.querySelector("[data-covered]");
      cell.textContent = share === null ? "–" : `${Math.round(100 * share)}%`;
      cell.className = `n needs-script shade${share === null ? 0 : Math.ceil(5 * share)}`;
    }
    await showOther(at, turn);
  };

  const alone = (at) => {
    strip.mark(new Map(frontier.stores[at].map((item) => [item, "opt"])));
    legend([["opt", "kept by OPT"]]);
    get("comparison").replaceChildren(lists.list("The best store", frontier.stores[at], "Nothing fits."));
  };

  const showOther = async (at, turn) => {
    const key = select.value;
    note.replaceChildren();
    if (!key) return alone(at);
    const known = others.budgets(key);
    const text = frontier.text(budget);
    if (known && !known.includes(text)) {
      alone(at);
      note.append(known.length ? "Its store is known at budget " : "It took longer than this copy allowed.", ...known.map((amount) => {
        const jump = make("button", {type: "button", class: "quiet"}, amount);
        jump.addEventListener("click", () => choose(explorer.asNumber(amount)));
        return jump;
      }));
      return undefined;
    }
    try {
      const other = await others.store(key, text);
      if (turn !== shown) return undefined;
      if (other.failed) throw new Error(`It failed here: ${other.failed}`);
      const comparison = compare({items: frontier.stores[at]}, other, others.label(key));
      const step = frontier.steps[at];
      const over = other.cost > budget + 1e-9;  // then it has no ratio
      const system = other.items.some((item) => typeof item !== "number");  // nor has a system: it has scores
      strip.mark(comparison.marks);
      legend([["both", "kept by both"], ["missed", "missed"], ["instead", "kept instead"]]);
      note.textContent = `worth ${explorer.short(other.value)} of ${explorer.short(step.v)}` +
        (step.v && step.certified && !over && !system ? `, ratio ${explorer.ratio(other.value / step.v)}` : "") + `, cost ${explorer.short(other.cost)}` +
        (over ? " (over the budget)" : "") + (other.estimate ? "; what its memories cover is an estimate from shared words" : "") +
        (other.notes ?? []).map((text) => `; ${text}`).join("");
      get("comparison").replaceChildren(...comparison.view);
    } catch (error) {
      if (turn === shown) { alone(at); note.textContent = error.message; }
    }
    return undefined;
  };

  // Wiring

  let timer = 0;
  slider.addEventListener("input", () => {
    clearTimeout(timer);
    const amount = Number(slider.value);
    timer = setTimeout(() => choose(amount), select.value ? 60 : 0);
  });
  slider.addEventListener("keydown", (event) => {
    const turn = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1}[event.key];
    if (!turn || !frontier) return;
    event.preventDefault();
    const at = frontier.at(budget);
    const to = turn < 0 && budget > frontier.steps[at].b ? at : at + turn;
    if (frontier.steps[to]) choose(frontier.steps[to].b);
  });
  number.addEventListener("change", () => { if (chooseText(number.value)) tellNumber(); });
  select.addEventListener("change", () => { explorer.state.set({with: select.value}); if (frontier) show(); });

  // An invalid budget is reported and changes nothing.
  const chooseText = (text, keep = true) => {
    const amount = explorer.asNumber(text);
    if (Number.isNaN(amount)) problem.textContent = `no budget: ${text.slice(0, 30)}`;
    else choose(amount, keep);
    return !Number.isNaN(amount);
  };

  const fromAddress = () => {
    const wanted = explorer.state.get("with");
    select.value = wanted && others.known(wanted) ? wanted : "";
    const text = explorer.state.get("b");
    if (!text || !shown) choose(frontier.first, false);
    if (text) chooseText(text, false);
  };

  const start = async () => {
    others.fill(select);
    if (data.frontier) { take(data.frontier); fromAddress(); return; }
    for (let slice = 0; slice < SLICES; slice += 1) {
      const answer = await explorer.ask("frontier.json");
      const first = frontier === null;
      if (!first && answer.steps.length === frontier.steps.length && !answer.whole && answer.spent > 6 * SLICES) break;
      take(answer);
      if (first || explorer.state.get("b")) fromAddress();  // more is known now about that budget
      else show();
      if (answer.whole) return;
    }
  };
  window.addEventListener("hashchange", () => { if (frontier) fromAddress(); });
  start().catch((error) => {
    get("frontier-note").textContent = error.message;
    get("slider-stage").setAttribute("aria-busy", "false");
  });
})();
