"use strict";
// Pages work without this; it brings dropping of files, progress, live numbers, sliders and dragging.
(() => {
  const base = document.body.dataset.base;
  const token = document.body.dataset.token;
  const paragraph = (said) => Object.assign(document.createElement("p"), { textContent: said });

  const word = (said) => Object.assign(document.createElement("span"), { textContent: said });

  // A form is sent once, however often its button is pressed; who comes back to the page may send it again.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
  window.addEventListener("pageshow", () => { for (const form of document.forms) delete form.dataset.sent; });

  // A click that stays on its page: the parts that it changed are put in their places, and the rest stands.
  // One after the other, so that what is shown last is what was decided last.
  const stay = async (form, button) => {
    const held = form.closest("[data-part]")?.id;
    const sent = new URLSearchParams(new FormData(form, button));
    const answer = await fetch(form.action, { method: "POST", body: sent });
    if (!answer.ok || new URL(answer.url).pathname !== location.pathname) { // it says why as a page of its own
      form.append(Object.assign(document.createElement("input"), { type: "hidden", name: button.name, value: button.value }));
      form.submit();
      return;
    }
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-part]")) {
      const other = fresh.getElementById(part.id);
      if (!other) continue;
      part.className = other.className;
      if (!part.isEqualNode(other)) part.replaceChildren(...other.childNodes);
    }
    delete form.dataset.sent;
    form.reset();
    history.replaceState(null, "", answer.url); // a reload shows the same
    const same = (held ? document.getElementById(held) : form).querySelector(`button[value="${CSS.escape(button.value)}"]`);
    if (document.activeElement === document.body) same?.focus({ preventScroll: true });
    document.dispatchEvent(new Event("stayed"));
  };
  let before = Promise.resolve();
  document.addEventListener("submit", (event) => {
    const form = event.target;
    const button = event.submitter;
    if (event.defaultPrevented || !button || !form.matches("[data-stay]")) return;
    event.preventDefault();
    before = before.then(() => stay(form, button)).catch(() => location.reload());
  });

  // A file that is dropped or chosen.
  const drop = document.getElementById("drop");
  if (drop) {
    const said = document.getElementById("upload");
    const send = async (file) => {
      said.textContent = `Reading ${file.name} …`;
      const answer = await fetch(`${base}/open/upload`, {
        method: "POST", body: file,
        headers: { "x-studio-token": token, "x-file-name": encodeURIComponent(file.name), "x-kind": document.getElementById("filekind").value },
      });
      if (answer.headers.get("content-type") !== "application/json") { said.textContent = await answer.text(); return; }
      const told = await answer.json();
      if (told.go) location.assign(told.go);
      else said.textContent = told.complaints.join(" ");
    };
    document.getElementById("file").addEventListener("change", (event) => { if (event.target.files[0]) send(event.target.files[0]); });
    drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
    drop.addEventListener("dragleave", () => drop.classList.remove("over"));
    drop.addEventListener("drop", (event) => {
      event.preventDefault();
      drop.classList.remove("over");
      if (event.dataTransfer.files[0]) send(event.dataTransfer.files[0]);
    });
  }

  // A choice that shows its own questions.
  for (const choice of document.querySelectorAll("select[data-submits]")) {
    let typed = false; // who walks through the choices by keyboard presses the button beside them
    choice.addEventListener("keydown", () => { typed = true; });
    choice.addEventListener("pointerdown", () => { typed = false; });
    choice.addEventListener("change", () => { if (!typed) choice.form.requestSubmit(); });
  }

  // Work in the background.
  const job = document.querySelector("[data-state]");
  if (job) {
    const bar = job.querySelector("progress");
    const look = async () => {
      const told = await (await fetch(`${base}/${job.dataset.state}`)).json();
      if (!told.running) { location.reload(); return; }
      job.querySelector(".said").textContent = told.said;
      if (told.of) { bar.max = told.of; bar.value = told.done; } else bar.removeAttribute("value");
      setTimeout(look, 300);
    };
    look();
  }

  // What a promise would take, while it is being written.
  const asked = document.querySelector("form[data-live]");
  if (asked) {
    const place = asked.querySelector(".live");
    const asker = crypto.randomUUID(); // whose last question it is: the next one drops it
    let turn = 0;
    const look = async () => {
      const mine = ++turn;
      const slow = setTimeout(() => place.replaceChildren(paragraph("Counting …")), 300);
      const form = new URLSearchParams(new FormData(asked));
      form.set("asker", asker);
      let told;
      do {
        told = await (await fetch(`${base}/promise/live`, { method: "POST", body: form })).json();
        clearTimeout(slow);
        if (mine !== turn) return;
        if (told.counting && place.dataset.turn !== String(mine)) show(told);
        place.dataset.turn = mine;
        if (told.counting) await new Promise((go) => { setTimeout(go, 300); });
        if (mine !== turn) return;
      } while (told.counting);
      show(told);
    };
    const show = (told) => {
      const parts = (told.sentences || []).map(paragraph);
      const today = document.createElement("p");
      today.append(Object.assign(document.createElement("strong"), { textContent: told.text }));
      parts.push(today);
      if (told.limits) parts.push(paragraph(`It does not stop: ${told.limits}`));
      if (told.sizes.length) {
        const list = Object.assign(document.createElement("ul"), { className: "rungs" });
        for (const [size, risk] of told.sizes) {
          const rung = document.createElement("li");
          const bar = Object.assign(document.createElement("progress"), { max: told.records || 1, value: risk, ariaHidden: "true" });
          rung.append(word(`k = ${size}: `), bar, word(`${risk.toLocaleString("en")} would have to change`));
          list.append(rung);
        }
        parts.push(list);
      }
      place.replaceChildren(...parts);
    };
    let later = 0;
    asked.addEventListener("input", () => { clearTimeout(later); later = setTimeout(look, 150); });
    if ([...asked.querySelectorAll("input[required]")].every((one) => one.value)) look();
  }

  // Cuts over a histogram.
  const edges = document.querySelector("form.edges");
  if (edges) {
    const cuts = edges.querySelector(".cuts");
    const { low, high } = edges.dataset;
    const said = (value) => ("dated" in edges.dataset
      ? new Date((value - 719163) * 86400000).toISOString().slice(0, 10) : value);
    const draw = () => {
      cuts.replaceChildren(...[...edges.querySelectorAll("input[type=range]")].map((slider) => {
        const line = document.createElement("span");
        line.style.left = `${100 * (slider.value - low) / (high - low)}%`;
        slider.closest(".ask").querySelector("output").textContent = said(slider.value);
        slider.setAttribute("aria-valuetext", said(slider.value));
        return line;
      }));
    };
    edges.addEventListener("input", draw);
    edges.querySelector("[data-add]").addEventListener("click", () => {
      const every = edges.querySelectorAll(".sliders .ask");
      const fresh = every[0].cloneNode(true);
      const number = every.length + 1;
      fresh.querySelector("label").htmlFor = `e${number}`;
      fresh.querySelector("label").firstChild.textContent = `Cut ${number}: `;
      Object.assign(fresh.querySelector("input"), { id: `e${number}`, value: high });
      edges.querySelector(".sliders").append(fresh);
      draw();
      fresh.querySelector("input").focus();
    });
    draw();
  }

  // A tree that is edited by dragging; the form beside it does the same by keyboard.
  const edit = document.getElementById("edit");
  if (edit) {
    let held = null;
    const boxOf = (element, kind) => element.closest?.(`[data-tree] ${kind}`)?.querySelector("input[name=node]");
    const pickable = () => { for (const label of document.querySelectorAll("[data-tree] label.tick")) label.draggable = true; };
    pickable();
    document.addEventListener("stayed", pickable);
    document.addEventListener("dragstart", (event) => { held = boxOf(event.target, "label.tick"); });
    document.addEventListener("dragover", (event) => { if (held && boxOf(event.target, "label.group")) event.preventDefault(); });
    document.addEventListener("drop", (event) => {
      const target = boxOf(event.target, "label.group");
      if (!held || !target || held === target) return;
      event.preventDefault();
      for (const box of document.querySelectorAll("input[name=node]")) box.checked = box === held;
      edit.elements.under.value = target.value;
      edit.requestSubmit(edit.querySelector("button[value=move]"));
    });
  }

  // A file whose text goes into a field.
  for (const file of document.querySelectorAll("input[type=file][data-into]")) {
    file.addEventListener("change", async () => {
      if (file.files[0]) document.getElementById(file.dataset.into).value = await file.files[0].text();
    });
  }
})();
