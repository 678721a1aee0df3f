"use strict";
// The verify buttons: the server's checker reads the proof again.

(() => {
  const wish = (button) => button.dataset.verifyFile ?
    {certificate: button.dataset.verifyFile, number: Number(button.dataset.number)} :
    {package: button.dataset.verifyPackage, budget: button.dataset.budget};

  for (const button of document.querySelectorAll("[data-verify-file], [data-verify-package]")) {
    const word = button.parentElement.querySelector("[role=status]");
    button.addEventListener("click", async () => {
      button.disabled = true;
      word.className = "muted";
      word.textContent = "checking …";
      try {
        const found = await explorer.ask(`${explorer.root}verify`, wish(button));
        word.className = "";
        const leaves = `${explorer.whole(found.leaves)} ${found.leaves === 1 ? "leaf" : "leaves"}`;
        word.replaceChildren(
          explorer.make("span", {class: `badge ${found.valid ? "good" : "bad"}`}, found.valid ? "holds" : "refused"), " ",
          found.valid ? `${leaves}, ${found.seconds.toFixed(3)} s` : found.reason);
      } catch (error) {
        word.textContent = error.message;
      }
      button.disabled = false;
    });
  }
})();
