"use strict";
// Search in a static copy: over the index inside the page.

(() => {
  const data = explorer.data();
  const box = document.querySelector(".find input");
  if (!data || !data.texts) { if (!box.value) box.focus(); return; }
  const {make, get} = explorer;
  const MOST = 200;
  const plain = data.texts.map(([thing, , id, text]) => `${text}\n${id}`.toLowerCase());

  const marked = (text, word) => {
    const at = text.toLowerCase().indexOf(word);
    if (at < 0) return [text];
    return [text.slice(0, at), make("mark", {}, text.slice(at, at + word.length)), text.slice(at + word.length)];
  };

  const search = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    explorer.state.set({q: box.value});
    const rows = [];
    let more = 0;
    const add = (row) => { if (rows.length < MOST) rows.push(row()); else more += 1; };
    if (words.length) {
      data.things.forEach(([kind, name, address]) => {
        if (words.every((word) => name.toLowerCase().includes(word))) {
          add(() => make("li", {class: "row"}, make("a", {href: explorer.root + address}, make("span", {class: "kind"}, kind), " ", name)));
        }
      });
      plain.forEach((text, place) => {
        if (!words.every((word) => text.includes(word))) return;
        const [thing, table, id, said, address] = data.texts[place];
        add(() => make("li", {class: "row"}, make("a", {href: explorer.root + address},
          make("span", {class: "kind"}, table), " ", make("bdi", {}, data.things[thing][1])), " ",
        make("code", {}, id), make("span", {class: "text", dir: "auto"}, ...marked(said, words[0]))));
      });
    }
    get("found").replaceChildren(...rows);
    const cut = data.left_out ? ` ${explorer.thousands(data.left_out)} texts did not fit into this copy's index.` : "";
    get("found-note").textContent = (!words.length ? "Type into the box above." : rows.length ?
      `${explorer.thousands(rows.length + more)} found${more ? `; the first ${MOST} are shown` : ""}.` : "Nothing contains all of these words.") + cut;
  };

  box.addEventListener("input", search);
  box.form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", () => { if (box.value !== explorer.state.get("q")) { box.value = explorer.state.get("q"); search(); } });
  box.value = explorer.state.get("q");
  search();
  if (!box.value) box.focus();
})();
