// Pages work without this; it brings dropping of files, progress, live numbers, sliders and dragging.
import { again, each, pause, turn } from "./turn.js";

const { base, token } = document.body.dataset;
const paragraph = (said) => Object.assign(document.createElement("p"), { textContent: said });
const word = (said) => Object.assign(document.createElement("span"), { textContent: said });

// A file that is dropped or chosen.
each("#drop", (drop, signal) => {
  const said = document.getElementById("upload");
  const send = async (file) => {
    said.textContent = `Reading ${file.name} …`;
    const answer = await fetch(`${base}/open/upload`, {
      method: "POST", body: file,
      headers: { "x-studio-token": token, "x-file-name": encodeURIComponent(file.name), "x-kind": document.getElementById("filekind").value },
    });
    if (answer.headers.get("content-type") !== "application/json") { said.textContent = await answer.text(); return; }
    const told = await answer.json();
    if (!told.go) said.textContent = told.complaints.join(" ");
    else if (!signal.aborted) turn(told.go);
  };
  document.getElementById("file").addEventListener("change", (event) => { if (event.target.files[0]) send(event.target.files[0]); }, { signal });
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); }, { signal });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"), { signal });
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files[0]) send(event.dataTransfer.files[0]);
  }, { signal });
});

// A choice that shows its own questions.
each("select[data-submits]", (choice, signal) => {
  let typed = false; // who walks through the choices by keyboard presses the button beside them
  choice.addEventListener("keydown", () => { typed = true; }, { signal });
  choice.addEventListener("pointerdown", () => { typed = false; }, { signal });
  choice.addEventListener("change", () => { if (!typed) choice.form.requestSubmit(); }, { signal });
});

// Work in the background.
each("[data-state]", async (job, signal) => {
  const bar = job.querySelector("progress");
  for (let rest = 40; !signal.aborted; rest = Math.min(300, 2 * rest)) { // much of it takes no more than a moment
    const told = await (await fetch(`${base}/${job.dataset.state}`, { signal })).json();
    if (!told.running) { await again(); return; }
    job.querySelector(".said").textContent = told.said;
    if (told.of) { bar.max = told.of; bar.value = told.done; } else bar.removeAttribute("value");
    await pause(rest);
  }
});

// What a promise would take, while it is being written.
each("form[data-live]", (asked, signal) => {
  const place = asked.querySelector(".live");
  const asker = crypto.randomUUID(); // whose last question it is: the next one drops it
  let turns = 0;
  const look = async () => {
    const mine = ++turns;
    const stale = () => signal.aborted || mine !== turns;
    if (stale()) return;
    const slow = setTimeout(() => { if (!stale()) place.replaceChildren(paragraph("Counting …")); }, 300);
    const form = new URLSearchParams(new FormData(asked));
    form.set("asker", asker);
    let told;
    do {
      told = await (await fetch(`${base}/promise/live`, { method: "POST", body: form, signal })).json();
      clearTimeout(slow);
      if (stale()) return;
      if (told.counting && place.dataset.turn !== String(mine)) show(told);
      place.dataset.turn = mine;
      if (told.counting) await pause(300);
      if (stale()) return;
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
  const asks = () => look().catch((error) => { if (!signal.aborted) throw error; });
  let later = 0;
  asked.addEventListener("input", () => { clearTimeout(later); later = setTimeout(asks, 150); }, { signal });
  if ([...asked.querySelectorAll("input[required]")].every((one) => one.value)) asks();
});

// Cuts over a histogram.
each("form.edges", (edges, signal) => {
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
  edges.addEventListener("input", draw, { signal });
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
  }, { signal });
  draw();
});

// A tree that is edited by dragging; the form beside it does the same by keyboard.
each("[data-tree]", (tree) => { for (const label of tree.querySelectorAll("label.tick")) label.draggable = true; });
each("#edit", (edit, signal) => {
  let held = null;
  const boxOf = (element, kind) => element.closest?.(`[data-tree] ${kind}`)?.querySelector("input[name=node]");
  document.addEventListener("dragstart", (event) => { held = boxOf(event.target, "label.tick"); }, { signal });
  document.addEventListener("dragover", (event) => { if (held && boxOf(event.target, "label.group")) event.preventDefault(); }, { signal });
  document.addEventListener("drop", (event) => {
    const target = boxOf(event.target, "label.group");
    if (!held || !target || held === target) return;
    event.preventDefault();
    for (const box of document.querySelectorAll("input[name=node]")) box.checked = box === held;
    edit.elements.under.value = target.value;
    edit.requestSubmit(edit.querySelector("button[value=move]"));
  }, { signal });
});

// A file whose text goes into a field.
each("input[type=file][data-into]", (file, signal) => {
  file.addEventListener("change", async () => {
    if (file.files[0]) document.getElementById(file.dataset.into).value = await file.files[0].text();
  }, { signal });
});
