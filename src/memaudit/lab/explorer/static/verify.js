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
        const verdict = await explorer.ask(`${explorer.root}verify`, wish(button));
        word.className = "";
        const leaves = `${explorer.thousands(verdict.leaves)} ${verdict.leaves === 1 ? "leaf" : "leaves"}`;
        word.replaceChildren(
          explorer.make("span", {class: `badge ${verdict.valid ? "good" : "bad"}`}, verdict.valid ? "holds" : "refused"), " ",
          verdict.valid ? `${leaves}, ${verdict.seconds.toFixed(3)} s` : verdict.reason);
      } catch (error) {
        word.textContent = error.message;
      }
      button.disabled = false;
    });
  }
})();
