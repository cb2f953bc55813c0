// Conveniences only: every page works without this file.

/** A button beside each id that copies it. */
function addCopyButtons(words) {
  for (const id of document.querySelectorAll(".row-head code.id")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet copy";
    button.textContent = words.copy;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(id.textContent);
      button.textContent = words.copied;
    });
    id.after(button);
  }
}

/** Open menus of filters close when somebody clicks elsewhere or presses Escape. */
function closeMenus(event) {
  for (const menu of document.querySelectorAll("details.filter[open]")) {
    if (event.type === "keydown" ? event.key === "Escape" : !menu.contains(event.target)) {
      menu.open = false;
      if (event.type === "keydown") menu.querySelector("summary").focus();
    }
  }
}

const words = document.querySelector("[data-copy]");
if (words && navigator.clipboard) addCopyButtons({ copy: words.dataset.copy, copied: words.dataset.copied });
document.addEventListener("click", closeMenus);
document.addEventListener("keydown", closeMenus);
