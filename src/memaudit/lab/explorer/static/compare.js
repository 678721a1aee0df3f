"use strict";
// Who else kept what: the list to choose from, and where each store comes from.

explorer.others = (data) => {
  const TITLES = {deployable: "Deployable writers", proxy: "Proxies", reference: "References"};

  // Rows of runs by run and writer; each knows its store at some budgets only.
  const ran = new Map();
  for (const row of data.rows) {
    const key = `r:${row.run}:${row.writer.name}`;
    if (!ran.has(key)) ran.set(key, {label: `${row.writer.label} in ${row.run}`, run: row.run, rows: []});
    ran.get(key).rows.push(row);
  }

  const group = (title, options) => {
    const made = explorer.make("optgroup", {label: title});
    made.append(...options.map(([value, label]) => explorer.make("option", {value}, label)));
    return options.length ? [made] : [];
  };

  const fill = (select) => {
    select.append(...group("Systems", data.systems.map((system) => [`s:${system.name}`, system.label])));
    for (const kind of Object.keys(TITLES)) {
      const writers = data.writers.filter((writer) => writer.group === kind);
      select.append(...group(`${TITLES[kind]}, run here`, writers.map((writer) => [`w:${writer.name}`, writer.label])));
    }
    for (const run of new Set([...ran.values()].map((rows) => rows.run))) {
      const own = [...ran].filter(([, rows]) => rows.run === run);
      select.append(...group(`Rows of ${run}`, own.map(([key, rows]) => [key, rows.label])));
    }
  };

  // At which budgets a store is known; null if at any.
  const budgets = (key) => {
    if (key.startsWith("r:")) return ran.get(key).rows.map((row) => row.budget);
    if (key.startsWith("w:") && explorer.bundled) {
      return Object.keys(data.computed).filter((budget) => key.slice(2) in data.computed[budget])
        .sort((a, b) => explorer.asNumber(a) - explorer.asNumber(b));
    }
    return null;
  };

  const asked = new Map();
  const load = (address) => {
    if (!asked.has(address)) {
      asked.set(address, explorer.ask(address).catch((error) => { asked.delete(address); throw error; }));
    }
    return asked.get(address);
  };

  // {items, value, cost, ratio?, estimate, failed, notes?}
  const store = async (key, budget) => {
    let answer;
    if (key.startsWith("r:")) {
      answer = ran.get(key).rows.find((row) => row.budget === budget);
      return {items: answer.store, value: answer.value ?? 0, cost: answer.cost, failed: answer.failed, estimate: false};
    }
    const name = key.slice(2);
    if (key.startsWith("s:")) {
      answer = data.system_stores ? data.system_stores[name] : await load(`store.json?system=${encodeURIComponent(name)}`);
    } else {
      answer = data.computed ? data.computed[budget][name] :
        await load(`store.json?writer=${encodeURIComponent(name)}&budget=${encodeURIComponent(budget)}`);
    }
    return {items: answer.memories ?? answer.store, value: answer.value, cost: answer.cost,
      failed: answer.failed, estimate: answer.estimate, notes: answer.notes};
  };

  const label = (key) => key.startsWith("r:") ? ran.get(key).label :
    [...data.writers, ...data.systems].find((source) => source.name === key.slice(2)).label;
  const known = (key) => key.startsWith("r:") ? ran.has(key) :
    (key.startsWith("w:") ? data.writers : data.systems).some((source) => source.name === key.slice(2));

  return {fill, budgets, store, label, known};
};

// Two stores side by side: kept by both, missed, kept instead; and the units on which they differ.
explorer.sideBySide = (data, values, lists) => {
  const {make} = explorer;
  const MOST_UNITS = 15;

  const units = (changes) => {
    const rows = changes.slice(0, MOST_UNITS).map((change) => make("tr", {},
      make("th", {scope: "row", dir: "auto"}, data.units.text[change.unit] || data.units.id[change.unit]),
      make("td", {}, data.units.kind[change.unit]),
      ...[data.units.weight[change.unit], change.ours, change.theirs].map((number) => make("td", {class: "n"}, explorer.short(number))),
      make("td", {class: "n"}, explorer.signed((change.change > 0 ? "+" : "") + change.change.toFixed(2)))));
    const head = ["Unit", "Kind", "Weight", "Covered by OPT", "by this store", "Value"].map((text, place) =>
      make("th", {scope: "col", class: place > 1 ? "n" : false}, text));
    const more = changes.length - MOST_UNITS;
    return make("div", {class: "wide", tabindex: "0", role: "region", "aria-label": "Units on which the stores differ"},
      make("table", {}, make("caption", {}, `${changes.length} units are worth more in one store than in the other` +
        (more > 0 ? `; the ${MOST_UNITS} largest differences` : "")),
        make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
  };

  return (best, other, label) => {
    const theirs = new Set(other.items);
    const ours = new Set(best.items);
    const both = best.items.filter((item) => theirs.has(item));
    const missed = best.items.filter((item) => !theirs.has(item));
    const instead = other.items.filter((item) => !ours.has(item));
    const wasted = values.wasted(other.items);
    const lost = [...wasted].reduce((sum, item) => sum + values.costOf(item), 0);
    const changes = values.changes(best.items, other.items);
    const marks = new Map([...both.map((item) => [item, "both"]), ...missed.map((item) => [item, "missed"]),
      ...instead.filter((item) => typeof item === "number").map((item) => [item, "instead"])]);
    const words = wasted.size ? `${wasted.size} of its memories, cost ${explorer.short(lost)}, ${wasted.size === 1 ? "adds" : "add"} nothing.` : "";
    const view = [
      make("div", {class: "three"},
        lists.list("Kept by both", both, "Nothing in common with OPT.", wasted, "", "both"),
        lists.list("Missed", missed, "Nothing of OPT's store is missing.", new Set(), "", "missed"),
        lists.list("Kept instead", instead, "Nothing else.", wasted, words, "instead")),
      changes.length ? units(changes) : make("p", {class: "muted"}, "Every unit is worth the same in both stores."),
    ];
    return {marks, view, label, wasted};
  };
};
