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

/** j and k go through the rows of a list, a, r and c choose a verdict, ? opens the sheet of keys. Nothing is ever sent by a key. */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=radio]), textarea, select")) return;
  if (event.key === "j" || event.key === "k") {
    const rows = [...document.querySelectorAll("#result_list tbody th a")];
    const at = rows.indexOf(document.activeElement) + (event.key === "j" ? 1 : -1);
    if (rows.length) rows[Math.max(0, Math.min(at, rows.length - 1))].focus();
  }
  const verdict = { a: "approve", r: "reject", c: "request_changes" }[event.key];
  const choice = verdict && document.querySelector(`input[name=verdict][value=${verdict}]`);
  if (choice) {
    choice.checked = true;
    choice.focus();
  }
  const sheet = event.key === "?" && document.querySelector("details.keys");
  if (sheet) sheet.open = !sheet.open;
}
document.addEventListener("keydown", onKey);
