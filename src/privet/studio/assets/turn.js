// Turns pages without loading a document: what a link or a form leads to is asked for, and put in the place of what
// is shown. Whatever is not a page of ours is loaded as browsers do it; without this, everything is.

const MOMENT = 300; // milliseconds after which a wait is said
const KEPT = 8; // pages that are kept as they were left
const PAGE = "#top, #page", PARTS = "[data-part]";
const kinds = []; // of elements that do something
const kept = new Map(); // pages by their place in the history
const waits = new Set();
let here = history.state?.id ?? crypto.randomUUID(); // our place in the history
let shown = bare(location.href); // the address of what is shown; null: the answer to a form, which has none
let stored = false; // was it kept before?
let clicks = 0, gone = 0, refused = 0; // how many there were: in all, up to the last link, up to the last refusal
let asked = new AbortController(); // of the page that is on its way
let forms = Promise.resolve(); // which are sent one after the other
let queue = 0, unsaid = 0; // of them, those that are not done; and those that are not even sent
let sending = new WeakMap(); // what each form says last, while it is not done
let touched = false; // has anything been typed or chosen on this page?

function bare(address) {
  return address.split("#")[0];
}

export const pause = (time) => new Promise((go) => { setTimeout(go, time); });

// What elements do: `begin` is called for each that a selector finds, on this page and on later ones, with a signal
// that ends it when the element is gone.
export const each = (selector, begin) => {
  kinds.push({ selector, begin, lives: new Map() });
  renew();
};

const renew = () => {
  for (const { selector, begin, lives } of kinds) {
    for (const [element, end] of lives) {
      if (element.isConnected) continue;
      end.abort();
      lives.delete(element);
    }
    for (const element of document.querySelectorAll(selector)) {
      if (lives.has(element)) continue;
      const end = new AbortController();
      lives.set(element, end);
      (async () => begin(element, end.signal))().catch((error) => { if (!end.signal.aborted) throw error; });
    }
  }
};

const busy = async (work) => {
  const slow = setTimeout(() => {
    waits.add(work);
    document.documentElement.classList.add("busy");
    document.getElementById("turned").textContent = "One moment …";
  }, MOMENT);
  try { return await work; } finally {
    clearTimeout(slow);
    waits.delete(work);
    if (!waits.size) document.documentElement.classList.remove("busy");
  }
};

const pageOf = (text, parts = PAGE) => {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const ours = fresh.body.dataset.token === document.body.dataset.token;
  return { title: fresh.title, parts: ours ? [...fresh.querySelectorAll(parts)] : [] };
};

// Put the parts of a page in their places; what stood there is given back.
const put = (page, whole) => {
  const left = { title: document.title, shown, parts: [] };
  for (const fresh of page.parts) {
    const part = document.getElementById(fresh.id);
    if (!part || (!whole && part.isEqualNode(fresh))) continue;
    const old = part.cloneNode(false);
    old.append(...part.childNodes);
    left.parts.push(old);
    part.className = fresh.className;
    part.append(...fresh.childNodes);
  }
  document.title = page.title;
  touched = false;
  renew();
  document.dispatchEvent(new Event("renewed"));
  return left;
};

// Where somebody is who has turned a page: at a place of it, or at its start.
const stand = (height, anchor) => {
  const place = anchor && document.getElementById(decodeURIComponent(anchor.slice(1)));
  const start = place || document.getElementById("main");
  if (!start.hasAttribute("tabindex")) start.tabIndex = -1;
  start.focus({ preventScroll: true });
  if (place) place.scrollIntoView(); else scrollTo(0, height);
  document.getElementById("turned").textContent = document.title;
};

const note = () => { if (!history.state || history.state.id === here) history.replaceState({ id: here, y: scrollY }, ""); };

const keep = (left, id) => {
  kept.set(id, left);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value);
};

// Show a page as the next of the history; `address` null: it has none of its own.
const show = (page, address) => {
  const before = here, same = address === location.href && shown !== null && history.state?.id === here;
  note();
  if (!same) here = crypto.randomUUID();
  const left = put(page, true);
  if (!same && (address === null || left.shown === null)) keep(left, before);
  history[same ? "replaceState" : "pushState"]({ id: here }, "", address ?? location.href);
  shown = address && bare(address);
  stored = false;
  stand(0, address ? new URL(address).hash : "");
};

const load = (address) => {
  if (bare(address) === bare(location.href)) location.reload(); else location.assign(address);
};

// Ask for a page; `use` gets it, if it is still wanted then.
const ask = async (address, wanted, use, { parts, signal } = {}) => {
  let page, found;
  try {
    const answer = await fetch(address, { signal });
    if (answer.headers.get("content-type")?.startsWith("text/html")) page = pageOf(await answer.text(), parts);
    found = answer.redirected ? answer.url + new URL(address, location).hash : new URL(address, location).href;
  } catch { /* the browser says why when it loads it */ }
  if (!wanted()) return;
  if (page?.parts.length) use(page, found); else load(address);
};

// A click that leads to another page: of several the last one counts. What forms are saying meanwhile is waited
// for, so that the page shows it; where that takes long, the page is shown before it and again after it.
const leave = async (address, use) => {
  asked.abort();
  const { signal } = asked = new AbortController();
  const mine = gone = ++clicks;
  await Promise.race([forms, pause(MOMENT)]);
  const early = queue > 0;
  if (!signal.aborted) await ask(address, () => !signal.aborted, use, { signal });
  if (early) forms.then(() => { if (mine === clicks && refused !== clicks) overtaken(); });
};

const overtaken = () => {
  if (!touched) { again(); return; }
  document.getElementById("main").prepend(notice("What you said before is done now. This page is from before it: load it again to see what it did."));
};

export const turn = (address) => busy(leave(address, show));

// The page that is shown, as it is now, in its place.
export const again = () => {
  const mine = clicks;
  return busy(ask(location.href, () => mine === clicks, (page, found) => {
    const other = bare(found) !== shown; // what was waited for leads on
    put(page, true);
    shown = bare(found);
    history.replaceState({ id: here }, "", found);
    if (other || document.activeElement === document.body) stand(other ? 0 : scrollY, "");
  }));
};

const paragraph = (said) => Object.assign(document.createElement("p"), { textContent: said });

const boxed = (said, kind, role) => {
  const box = Object.assign(document.createElement("div"), { className: kind, role });
  box.append(paragraph(said));
  return box;
};
const complaint = (said) => boxed(`✗ ${said}`, "state no", "alert");
const notice = (said) => boxed(said, "state", "status");

// A form is sent once, whatever comes of it: nobody knows what the server has done that does not answer.
const say = async (form, button, sent, mine) => {
  let answer, text;
  unsaid--;
  try {
    answer = await fetch(form.getAttribute("action"), { method: "POST", body: sent, headers: { "x-turns": "yes" } });
    text = await answer.text();
  } catch {
    const box = complaint("The studio does not answer; perhaps it was stopped. Whether this was done is not known: load the page again when it runs, and look.");
    document.getElementById("main").prepend(box);
    box.scrollIntoView({ block: "center" });
    return;
  } finally {
    if (sending.get(form) === String(sent)) sending.delete(form);
  }
  const kind = answer.headers.get("content-type") ?? "";
  const wanted = () => mine > gone && mine > refused; // nobody went on since, or has a refusal to read
  if (kind.startsWith("application/json")) await follow(JSON.parse(text).go, form, button, wanted);
  else if (!answer.ok || wanted()) {
    asked.abort();
    if (!answer.ok) refused = clicks;
    show(kind.startsWith("text/html") ? pageOf(text) : refusal(text), null);
  }
};

// What a form has done is shown by the page to which it leads. Of a page on which it stays only the parts change.
const follow = async (address, form, button, wanted) => {
  const stays = form.matches("[data-stay]") && form.isConnected && new URL(address, location).pathname === location.pathname;
  if (!stays) { await ask(address, wanted, show); return; }
  const held = form.closest("[data-part]")?.id;
  form.reset();
  await ask(address, wanted, (page, found) => {
    put(page, false);
    shown = bare(found);
    history.replaceState(history.state, "", found); // a reload shows the same
    const same = (held ? document.getElementById(held) : form).querySelector(`button[value="${CSS.escape(button?.value ?? "")}"]`);
    if (document.activeElement === document.body) same?.focus({ preventScroll: true });
    document.getElementById("turned").textContent = "Done.";
  }, { parts: PARTS });
};

// What is refused before any page is made, as a page.
const refusal = (said) => {
  const page = document.getElementById("page").cloneNode(false);
  const main = document.getElementById("main").cloneNode(false);
  main.append(Object.assign(document.createElement("h1"), { textContent: "Not done" }), complaint(said));
  page.append(main);
  return { title: "Not done · privet studio", parts: [page] };
};

const isOurs = (address) => {
  const { origin, pathname } = new URL(address, location);
  return origin === location.origin && `${pathname}/`.startsWith(`${document.body.dataset.base}/`);
};

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  const other = event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey; // a tab, a window, a file
  if (event.defaultPrevented || other || !(link instanceof HTMLAnchorElement)) return;
  if (link.target || link.matches("[download], [data-load]") || !isOurs(link.href)) return;
  if (link.hash && bare(link.href) === shown) return; // a place of this page
  event.preventDefault();
  turn(link.href);
});

document.addEventListener("submit", (event) => {
  const form = event.target, button = event.submitter;
  const address = new URL(form.getAttribute("action") ?? location.href, location);
  if (event.defaultPrevented || form.hasAttribute("target") || !isOurs(address)) return;
  event.preventDefault();
  const sent = new URLSearchParams(new FormData(form, button));
  if (form.getAttribute("method") !== "post") {
    address.search = sent;
    turn(address.href);
  } else if (sending.get(form) !== String(sent)) { // once, however often its button is pressed; another one corrects it
    sending.set(form, String(sent));
    asked.abort();
    const mine = ++clicks;
    queue++;
    unsaid++;
    forms = forms.then(() => say(form, button, sent, mine)).catch(() => location.reload()).finally(() => { queue--; });
    busy(forms);
  }
});

// What waits for an earlier form to be done would go with the document, and nobody would know.
addEventListener("beforeunload", (event) => { if (unsaid) event.preventDefault(); });
for (const kind of ["input", "change"]) document.addEventListener(kind, () => { touched = true; });

// Back and forward: pages as they are now, at the height at which they were left; without an address, as they were.
history.scrollRestoration = "manual";
addEventListener("popstate", ({ state }) => {
  if (state ? state.id === here : bare(location.href) === shown) { // within the page
    if (state) { asked.abort(); scrollTo(0, state.y ?? 0); }
    return;
  }
  const old = state && kept.get(state.id);
  const shift = (page, address) => {
    const before = here, left = put(page, true);
    if (left.shown === null || stored) keep(left, before);
    stored = page === old;
    here = state?.id ?? crypto.randomUUID();
    shown = address;
    stand(state?.y ?? 0, state ? "" : location.hash);
    note();
  };
  if (!old) { busy(leave(location.href, (page, found) => shift(page, bare(found)))); return; }
  asked.abort();
  gone = ++clicks;
  kept.delete(state.id);
  shift(old, old.shown);
});

let scrolled = 0;
addEventListener("scroll", () => { clearTimeout(scrolled); scrolled = setTimeout(note, 100); }, { passive: true });
addEventListener("pageshow", () => { sending = new WeakMap(); });
if (history.state?.y) scrollTo(0, history.state.y); else note();
