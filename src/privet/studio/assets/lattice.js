// The lattice on a canvas: loss to the right, height upwards. It draws what passes the filter, and no more.
import { each } from "./turn.js";

each("#lattice", async (canvas, signal) => {
  const base = document.body.dataset.base;
  const pen = canvas.getContext("2d");
  const all = await (await fetch(`${base}/explore/lattice/nodes`, { signal })).json();
  const shape = all.top.map((top) => top + 1);
  const size = all.loss.length;
  const levels = new Uint8Array(size * shape.length);
  const height = new Uint16Array(size);
  for (let at = 0; at < size; at++) {
    let rest = at;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const level = rest % shape[axis];
      rest = (rest - level) / shape[axis];
      levels[at * shape.length + axis] = level;
      height[at] += level;
    }
  }
  const highest = all.top.reduce((sum, top) => sum + top, 0) || 1;
  const most = all.loss.reduce((a, b) => Math.max(a, b), 0) || 1;
  const numbered = (said) => said.split(",").map(Number).reduce((sum, level, axis) => sum * shape[axis] + level, 0);
  const pinned = canvas.dataset.pinned ? numbered(canvas.dataset.pinned) : -1;
  const least = document.querySelector("[data-pick]") ? numbered(document.querySelector("[data-pick]").dataset.pick) : -1;
  const hint = document.getElementById("hint");
  let shown = [];
  let picked = -1;
  let zoom = 1, left = 0, low = 0;
  const pad = 24, wide = Number(canvas.dataset.wide ??= canvas.width), high = Number(canvas.dataset.high ??= canvas.height);
  const sharp = Math.max(1, Math.min(3, window.devicePixelRatio || 1));
  canvas.width = wide * sharp;
  canvas.height = high * sharp;
  pen.scale(sharp, sharp);
  const place = (at) => [
    pad + (wide - 2 * pad) * ((all.loss[at] / most - left) * zoom),
    high - pad - (high - 2 * pad) * ((height[at] / highest - low) * zoom),
  ];
  const ring = (at, radius, colour, shape) => {
    if (at < 0) return;
    const [x, y] = place(at);
    pen.strokeStyle = colour;
    pen.lineWidth = 2;
    pen.beginPath();
    if (shape === "circle") pen.arc(x, y, radius, 0, 2 * Math.PI);
    else if (shape === "diamond") { pen.moveTo(x, y - radius); pen.lineTo(x + radius, y); pen.lineTo(x, y + radius); pen.lineTo(x - radius, y); pen.closePath(); }
    else pen.rect(x - radius, y - radius, 2 * radius, 2 * radius);
    pen.stroke();
  };
  const paint = () => {
    const style = getComputedStyle(document.body);
    const [breaks, keeps, quiet, ink] = ["--before", "--after", "--quiet", "--ink"].map((name) => style.getPropertyValue(name));
    const colours = [breaks, keeps, quiet];
    pen.clearRect(0, 0, wide, high);
    pen.fillStyle = quiet;
    pen.font = "13px system-ui, sans-serif";
    pen.fillText("loss →", wide - 60, high - 6);
    pen.fillText("↑ more general", 6, 16);
    for (const kind of [0, 2, 1]) {
      pen.fillStyle = colours[kind];
      pen.globalAlpha = kind === 1 ? 0.75 : 0.4;
      const half = (kind === 1 ? 3 : 1.5) * Math.min(2, Math.sqrt(zoom));
      for (const at of shown) {
        if (all.keeps[at] !== kind) continue;
        const [x, y] = place(at);
        if (x < 0 || y < 0 || x > wide || y > high) continue;
        pen.fillRect(x - half, y - half, 2 * half, 2 * half);
      }
    }
    pen.globalAlpha = 1;
    ring(least, 8, keeps, "diamond");
    ring(pinned, 9, ink, "circle");
    ring(picked, 7, ink, "square");
  };
  let asked = false; // at most one picture a frame, however many moves the mouse makes
  const draw = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; paint(); });
  };
  const filter = () => {
    const wanted = [...document.querySelectorAll("[data-level]")].map((one) => one.value);
    const kept = document.getElementById("kept").checked;
    shown = [];
    for (let at = 0; at < size; at++) {
      if (kept && all.keeps[at] !== 1) continue;
      if (wanted.every((level, axis) => level === "" || levels[at * shape.length + axis] === Number(level))) shown.push(at);
    }
    document.getElementById("counted").textContent = `${shown.length.toLocaleString("en")} nodes shown`;
    draw();
  };
  const made = (kind, text, more = {}) => Object.assign(document.createElement(kind), { textContent: text, ...more });
  const many = (number) => number.toLocaleString("en");
  const share = (loss) => `${(100 * loss).toFixed(2)} %`;
  const finer = (told, below) => {
    const list = document.createElement("ul");
    for (const one of below) {
      const buys = told.holds && one.holds ? `; it would lose ${share(one.loss)} instead of ${share(told.loss)}` : "";
      const said = one.holds ? `keeps the promises, with ${many(one.suppressed)} records left out${buys}` : `breaks a promise: ${many(one.suppressed)} records would have to go`;
      list.append(made("li", `${one.name} one level finer ${said}`));
    }
    return list;
  };
  const found = async (what, said) => {
    const answer = await fetch(`${base}/explore/lattice/${what}?levels=${said}`, { signal });
    const ours = answer.headers.get("content-type") === "application/json";
    if (!ours) throw new Error("The policy or the data was changed since this page was made: load it again.");
    const told = await answer.json();
    if (told.complaints) throw new Error(told.complaints.join("; "));
    return told;
  };
  // What is known here is shown at once, then the node as it is counted, then what one step less would buy.
  const pick = async (at) => {
    picked = at;
    draw();
    const said = [...levels.slice(at * shape.length, (at + 1) * shape.length)].join(",");
    const card = document.getElementById("node"), pin = document.getElementById("pin");
    const list = made("dl", "", { className: "picked" });
    all.names.forEach((name, axis) => {
      const level = levels[at * shape.length + axis], pair = document.createElement("div");
      pair.append(made("dt", `${name}, level ${level}`), made("dd", all.levels[axis][level]));
      list.append(pair);
    });
    if (pin) pin.hidden = true;
    const first = made("p", "Counting its classes …"), more = document.getElementById("finer");
    card.replaceChildren(first, list);
    more.replaceChildren(); // below the button, which stays where it is when this comes
    try {
      const told = await found("node", said);
      if (picked !== at) return;
      first.textContent = told.holds
        ? `Keeps every promise: ${many(told.classes)} ${told.classes === 1 ? "class" : "classes"}, the smallest of ${many(told.smallest)}; ${many(told.suppressed)} of ${many(told.records)} records left out; loss ${share(told.loss)}`
        : `Breaks a promise: ${many(told.suppressed)} of ${many(told.records)} records would have to go`;
      if (pin) { pin.hidden = !told.holds; pin.elements.levels.value = said; }
      if (!said.split(",").some(Number)) return;
      more.append(made("h3", "What one step less would buy"), made("p", "Counting …"));
      const below = await found("finer", said);
      if (picked === at) more.lastChild.replaceWith(finer(told, below));
    } catch (error) {
      if (picked === at) (more.lastChild ?? first).textContent = error.message;
    }
  };
  const view = (factor, x = 0.5, y = 0.5) => {
    if (factor === 0) { zoom = 1; left = 0; low = 0; } else {
      const before = zoom;
      zoom = Math.min(64, Math.max(1, zoom * (factor > 0 ? 1.5 : 1 / 1.5)));
      left += x / before - x / zoom;
      low += y / before - y / zoom;
    }
    move(0, 0);
  };
  const move = (x, y) => {
    left = Math.min(1 - 1 / zoom, Math.max(0, left + x / zoom));
    low = Math.min(1 - 1 / zoom, Math.max(0, low + y / zoom));
    draw();
  };
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * wide / box.width, (event.clientY - box.top) * high / box.height];
  };
  const nearest = (x, y) => {
    let best = -1, near = 400;
    for (const one of shown) {
      const [a, b] = place(one);
      const far = (a - x) ** 2 + (b - y) ** 2;
      if (far < near || (far === near && all.keeps[one] === 1)) { near = far; best = one; }
    }
    return best;
  };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const [x, y] = at(event);
    view(-event.deltaY, x / wide, 1 - y / high);
  }, { passive: false, signal });
  // Held and moved, the picture moves; two fingers zoom; a click that moved nothing picks.
  const held = new Map();
  let far = 0, moved = false;
  const apart = () => { const [a, b] = [...held.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };
  canvas.addEventListener("pointerdown", (event) => {
    if (!held.size) moved = false;
    held.set(event.pointerId, at(event));
    canvas.setPointerCapture(event.pointerId);
    if (held.size === 2) far = apart();
  }, { signal });
  canvas.addEventListener("pointermove", (event) => {
    const now = at(event), before = held.get(event.pointerId);
    if (!before) { point(event, now); return; }
    held.set(event.pointerId, now);
    if (held.size === 2) {
      moved = true;
      const wider = apart(), middle = [...held.values()].reduce((sum, one) => [sum[0] + one[0] / 2, sum[1] + one[1] / 2], [0, 0]);
      if (wider > far * 1.2 || wider < far / 1.2) { view(wider > far ? 1 : -1, middle[0] / wide, 1 - middle[1] / high); far = wider; }
      return;
    }
    if (!moved && Math.hypot(now[0] - before[0], now[1] - before[1]) < 3) { held.set(event.pointerId, before); return; }
    moved = true;
    move((before[0] - now[0]) / wide, (now[1] - before[1]) / high);
  }, { signal });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => held.delete(event.pointerId), { signal });
  const point = (event, [x, y]) => {
    const one = nearest(x, y);
    hint.hidden = one < 0;
    if (one < 0) return;
    const said = all.names.map((name, axis) => `${name} ${levels[one * shape.length + axis]}`).join(", ");
    hint.textContent = `${["Breaks a promise", "Keeps every promise", "Not looked at"][all.keeps[one]]}; loses ${(100 * all.loss[one]).toFixed(1)} % before anything is left out. ${said}`;
    const box = canvas.getBoundingClientRect(), inside = event.clientX - box.left;
    hint.style.left = `${Math.max(0, Math.min(inside + 14, box.width - 330))}px`;
    hint.style.top = `${event.clientY - box.top + 18}px`;
  };
  canvas.addEventListener("pointerleave", () => { hint.hidden = true; }, { signal });
  canvas.addEventListener("click", (event) => {
    if (moved) return;
    const best = nearest(...at(event));
    if (best >= 0) pick(best);
  }, { signal });
  canvas.addEventListener("keydown", (event) => {
    const act = {
      "+": () => view(1), "-": () => view(-1), "0": () => view(0),
      ArrowLeft: () => move(-0.2, 0), ArrowRight: () => move(0.2, 0), ArrowUp: () => move(0, 0.2), ArrowDown: () => move(0, -0.2),
    }[event.key];
    if (act) { event.preventDefault(); act(); }
  }, { signal });
  for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => view(Number(button.dataset.zoom)), { signal });
  for (const button of document.querySelectorAll("[data-pick]")) {
    button.addEventListener("click", () => {
      pick(numbered(button.dataset.pick));
      document.getElementById("node").scrollIntoView({ block: "center" });
    }, { signal });
  }
  document.getElementById("filter").addEventListener("input", filter, { signal });
  filter();
});
