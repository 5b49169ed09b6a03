"use strict";
// The lattice on a canvas: loss to the right, height upwards. It draws what passes the filter, and no more.
(async () => {
  const canvas = document.getElementById("lattice");
  if (!canvas) return;
  const base = document.body.dataset.base;
  const pen = canvas.getContext("2d");
  const all = await (await fetch(`${base}/explore/lattice/nodes`)).json();
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
  const most = Math.max(...all.loss) || 1;
  let shown = [];
  let picked = -1;
  let zoom = 1, left = 0, low = 0;
  const pad = 24;
  const place = (at) => [
    pad + (canvas.width - 2 * pad) * ((all.loss[at] / most - left) * zoom),
    canvas.height - pad - (canvas.height - 2 * pad) * ((height[at] / highest - low) * zoom),
  ];
  const draw = () => {
    const style = getComputedStyle(document.body);
    const colours = ["--before", "--after", "--quiet"].map((name) => style.getPropertyValue(name));
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.fillStyle = colours[2];
    pen.font = "13px system-ui, sans-serif";
    pen.fillText("loss →", canvas.width - 60, canvas.height - 6);
    pen.fillText("↑ more general", 6, 16);
    for (const kind of [0, 2, 1]) {
      pen.fillStyle = colours[kind];
      pen.globalAlpha = kind === 1 ? 0.9 : 0.35;
      for (const at of shown) {
        if (all.keeps[at] !== kind) continue;
        const [x, y] = place(at);
        if (x < 0 || y < 0 || x > canvas.width || y > canvas.height) continue;
        const half = kind === 1 ? 3 : 1.5;
        pen.fillRect(x - half, y - half, 2 * half, 2 * half);
      }
    }
    pen.globalAlpha = 1;
    if (picked >= 0) {
      const [x, y] = place(picked);
      pen.strokeStyle = style.getPropertyValue("--ink");
      pen.lineWidth = 2;
      pen.strokeRect(x - 7, y - 7, 14, 14);
    }
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
  const pick = async (at) => {
    picked = at;
    draw();
    const said = [...levels.slice(at * shape.length, (at + 1) * shape.length)].join(",");
    const told = await (await fetch(`${base}/explore/lattice/node?levels=${said}`)).json();
    if (picked !== at) return;
    const card = document.getElementById("node");
    const line = (text) => Object.assign(document.createElement("p"), { textContent: text });
    const names = Object.entries(told.levels || {}).map(([name, level]) => `${name} ${level}`).join(", ");
    card.replaceChildren(
      line(names),
      line(told.holds
        ? `Keeps every promise: ${told.classes.toLocaleString("en")} classes, the smallest of ${told.smallest.toLocaleString("en")}; ${told.suppressed.toLocaleString("en")} of ${told.records.toLocaleString("en")} records left out; loss ${(100 * told.loss).toFixed(2)} %`
        : `Breaks a promise: ${told.suppressed.toLocaleString("en")} of ${told.records.toLocaleString("en")} records would have to go`),
    );
    const pin = document.getElementById("pin");
    if (pin) { pin.hidden = !told.holds; pin.elements.levels.value = said; }
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
    return [(event.clientX - box.left) * canvas.width / box.width, (event.clientY - box.top) * canvas.height / box.height];
  };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const [x, y] = at(event);
    view(-event.deltaY, x / canvas.width, 1 - y / canvas.height);
  }, { passive: false });
  canvas.addEventListener("click", (event) => {
    const [x, y] = at(event);
    let best = -1, near = 400;
    for (const one of shown) {
      const [a, b] = place(one);
      const far = (a - x) ** 2 + (b - y) ** 2;
      if (far < near || (far === near && all.keeps[one] === 1)) { near = far; best = one; }
    }
    if (best >= 0) pick(best);
  });
  canvas.addEventListener("keydown", (event) => {
    const act = {
      "+": () => view(1), "-": () => view(-1), "0": () => view(0),
      ArrowLeft: () => move(-0.2, 0), ArrowRight: () => move(0.2, 0), ArrowUp: () => move(0, 0.2), ArrowDown: () => move(0, -0.2),
    }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => view(Number(button.dataset.zoom)));
  for (const button of document.querySelectorAll("[data-pick]")) {
    button.addEventListener("click", () => {
      const wanted = button.dataset.pick.split(",").map(Number);
      pick(wanted.reduce((sum, level, axis) => sum * shape[axis] + level, 0));
      document.getElementById("node").scrollIntoView({ block: "center" });
    });
  }
  document.getElementById("filter").addEventListener("input", filter);
  filter();
})();
