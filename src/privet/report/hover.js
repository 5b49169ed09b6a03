"use strict";
// Marks carry their numbers as titles. Shown at once on hover and focus; arrows walk along a plot.
(() => {
  const tip = document.getElementById("tip");
  const tips = new WeakMap();
  const saidOf = (mark) => {
    const inner = mark.querySelector(":scope > title");
    const said = inner ? inner.textContent : mark.getAttribute("title");
    if (said === null) return tips.get(mark);
    tips.set(mark, said); // taken from the mark: the browser would show it a second time
    if (inner) {
      mark.setAttribute("aria-label", said);
      inner.remove();
    } else {
      mark.removeAttribute("title");
    }
    return said;
  };
  const name = () => { for (const mark of document.querySelectorAll(".mark")) saidOf(mark); };
  name(); // for who reads with a screen reader, too
  document.addEventListener("renewed", name); // where a page is put in the place of another
  const hide = () => { tip.hidden = true; };
  const show = (mark, x, y) => {
    tip.textContent = saidOf(mark);
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, x + 14), document.documentElement.clientWidth - box.width - 8);
    const below = y + 18 + box.height > document.documentElement.clientHeight;
    tip.style.left = Math.max(8, left) + "px";
    tip.style.top = (below ? Math.max(8, y - box.height - 12) : y + 18) + "px";
  };
  const markOf = (event) => (event.target instanceof Element ? event.target.closest(".mark") : null);
  document.addEventListener("pointermove", (event) => {
    const mark = markOf(event);
    if (mark) show(mark, event.clientX, event.clientY);
    else if (!document.activeElement || !document.activeElement.closest(".mark")) hide();
  });
  document.addEventListener("focusin", (event) => {
    const mark = markOf(event);
    if (!mark) { hide(); return; }
    const box = mark.getBoundingClientRect();
    show(mark, box.left + box.width / 2, box.top + box.height / 2);
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", hide, { passive: true });
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { hide(); return; }
    const mark = markOf(event);
    if (!mark || !(event.key in steps)) return;
    const marks = [...mark.parentElement.querySelectorAll(":scope > .mark")];
    const next = marks[marks.indexOf(mark) + steps[event.key]];
    if (!next) return;
    event.preventDefault();
    mark.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
})();
