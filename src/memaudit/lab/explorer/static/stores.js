"use strict";
// The stores page: writers that were not computed yet, one after another.

(() => {
  const {get, make} = explorer;
  const body = get("stores-table").tBodies[0];
  const waiting = [...body.querySelectorAll("[data-writer]")];
  const budget = document.querySelector("input[name=budget]").value;
  let left = waiting.length;

  const row = async (name) => {
    const address = `row.json?writer=${encodeURIComponent(name)}&budget=${encodeURIComponent(budget)}`;
    let answer = await explorer.ask(address);
    while (answer.waiting) answer = await explorer.ask(address);
    return answer;
  };

  const fill = (line, answer) => {
    const cells = [...line.cells].slice(1);
    if (answer.cells) {
      cells.forEach((cell, place) => { cell.textContent = answer.cells[place]; });
      cells[0].classList.remove("muted");
      line.dataset.rank = String(answer.rank ?? 0);
      body.insertBefore(line, [...body.rows].find((other) => !(Number(other.dataset.rank) >= Number(line.dataset.rank))) ?? null);
    } else {
      cells[0].textContent = `failed: ${answer.failed}`;
      cells[0].colSpan = cells.length;
      cells.slice(1).forEach((cell) => cell.remove());
      body.append(line);
    }
  };

  const start = async () => {
    for (const line of waiting) {
      get("waiting").textContent = `Computing ${left} more ${left === 1 ? "writer" : "writers"} at this budget …`;
      fill(line, await row(line.dataset.writer));
      left -= 1;
    }
    get("waiting").replaceChildren("Every writer is computed. ",
      make("a", {href: `?budget=${encodeURIComponent(budget)}`}, "Show what each of them keeps"));
  };
  start().catch((error) => { get("waiting").textContent = error.message; });
})();
