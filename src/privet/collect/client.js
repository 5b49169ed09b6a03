// A respondent's answers, perturbed in the respondent's own browser. One file, no dependencies, nothing is fetched.
//
//   const said = privetCollect.answer(form, {age: 41, smokes: "no"}, {storage: localStorage});
//   // {plan: "…", answers: {age: "38", smokes: "no"}}: this, and only this, is sent
//
// `form` is the plan as `privet collect form` writes it. The mechanisms are built here from their parameters, in whole
// numbers, exactly as privet/collect/channels.py builds them; tests/collect/vectors.json binds the two together.
// With a storage, the answer to a question that was asked before is repeated and not drawn again, and a budget holds.
// The storage says which true values had an answer: it stays on this device.

(function (root, make) {
  if (typeof module === "object" && module.exports) module.exports = make();
  else root.privetCollect = make();
})(typeof self !== "undefined" ? self : this, function () {
  "use strict";

  const BLANKS = "[\\t\\n\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";  // as numerals.py
  const AROUND = new RegExp(`^${BLANKS}|${BLANKS}$`, "g");
  const has = (table, key) => Object.prototype.hasOwnProperty.call(table, key);
  const isTable = (one) => typeof one === "object" && one !== null && !Array.isArray(one);
  const stripped = (text) => text.replace(AROUND, "");
  const printable = (text) => !/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.test(text);

  const BITS = 192n, ONE = 1n << BITS, ERROR = 1n << 32n, WORD = 1n << 64n, HALF = 1n << 32n;
  const LONGEST = 1 << 17, SMALLEST = fraction("1/1000"), LARGEST = fraction("20"), FARTHEST = 10n ** 15n;
  const LEDGER = "privet-collect-ledger";

  class Refused extends Error {
    constructor(complaints) {
      super(complaints.join("\n"));
      this.name = "Refused";
      this.complaints = complaints;
    }
  }

  // Names in the order of their code points, as Python sorts them: of a table, JavaScript gives 10 before b and 2 before 10.
  function ordered(names) {
    const points = new Map(names.map((name) => [name, Array.from(name, (letter) => letter.codePointAt(0))]));
    return [...names].sort((one, other) => {
      const [a, b] = [points.get(one), points.get(other)];
      for (let at = 0; at < a.length && at < b.length; at += 1) if (a[at] !== b[at]) return a[at] - b[at];
      return a.length - b.length;
    });
  }

  // Exact fractions: {n, d}, d > 0, in lowest terms.

  function made(n, d) {
    if (d < 0n) [n, d] = [-n, -d];
    let [a, b] = [n < 0n ? -n : n, d];
    while (b) [a, b] = [b, a % b];
    return {n: n / a, d: d / a};
  }

  function fraction(given) {
    if (typeof given === "number" ? !Number.isSafeInteger(given) : typeof given !== "string") return null;
    const text = stripped(String(given));
    if (text.length > 40) return null;
    const over = /^([+-]?[0-9]+)\/([0-9]*[1-9][0-9]*)$/.exec(text);
    return over ? made(BigInt(over[1].replace("+", "")), BigInt(over[2])) : decimal(text);
  }

  function decimal(text) {
    const found = /^([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,2}))?$/.exec(text);
    if (!found) return null;
    const [whole, part = ""] = found[2].split(".");
    const places = part.length - Number(found[3] || 0);
    let n = BigInt(whole + part || "0");
    if (found[1] === "-") n = -n;
    return places >= 0 ? made(n, 10n ** BigInt(places)) : made(n * 10n ** BigInt(-places), 1n);
  }

  const minus = (a, b) => made(a.n * b.d - b.n * a.d, a.d * b.d);
  const plus = (a, b) => made(a.n * b.d + b.n * a.d, a.d * b.d);
  const times = (a, b) => made(a.n * b.n, a.d * b.d);
  const over = (a, b) => made(a.n * b.d, a.d * b.n);
  const below = (a, b) => a.n * b.d < b.n * a.d;
  const up = (n, d) => -floor(-n, d);
  function floor(n, d) {
    const q = n / d;
    return n % d !== 0n && (n < 0n) !== (d < 0n) ? q - 1n : q;
  }

  function shown(number) {
    let places = 0, n = number.n, d = number.d;
    while (n % d !== 0n) { n *= 10n; places += 1; }
    n /= d;
    const sign = n < 0n ? "-" : "";
    const digits = (n < 0n ? -n : n).toString().padStart(places + 1, "0");
    return sign + (places ? digits.slice(0, -places) + "." + digits.slice(-places) : digits);
  }

  // exp(-power), as privet/collect/fixedpoint.py.

  function expBelow(power) {
    let small = up(power.n << BITS, power.d), halvings = 0;
    while (small > ONE >> 6n) { small = (small + 1n) >> 1n; halvings += 1; }
    let total = ONE, term = ONE, step = 0n;
    while (term) {
      step += 1n;
      term = term * small / (step << BITS);
      total += step % 2n ? -term - 1n : term;
    }
    for (let at = 0; at < halvings; at += 1) total = total * total >> BITS;
    return total > 0n ? total : 0n;
  }

  const expAbove = (power) => expBelow(power) + ERROR;
  const atMostExp = (odds, epsilon) => odds.n * expAbove(epsilon) <= odds.d << BITS;

  function logAbove(odds) {
    if (odds.n === odds.d) return made(0n, 1n);
    let near = BigInt(Math.max(1, Math.ceil((Math.log(Number(odds.n)) - Math.log(Number(odds.d))) * 1e6) - 1));
    while (!atMostExp(odds, made(near, 1000000n))) near += 1n;
    return made(near, 1000000n);
  }

  // Channels, as privet/collect/channels.py. Each has draw(code, take).

  function word(take) {
    return number(take(8), 0, 8);
  }

  function number(bytes, start, size) {
    let found = 0n;
    for (let at = size - 1; at >= 0; at -= 1) found = (found << 8n) | BigInt(bytes[start + at]);
    return found;
  }

  function asIs(inputs) {
    return {inputs, outputs: inputs, draw: (code) => code};
  }

  function response(inputs, other) {
    const keep = WORD - BigInt(inputs - 1) * other;
    const odds = keep > other ? made(keep, other) : made(other, keep);
    return {
      inputs, outputs: inputs, odds, keep, other,
      draw(code, take) {
        const at = word(take) - keep;
        if (at < 0n) return code;
        const found = Number(at / other);
        return found + (found >= code ? 1 : 0);
      },
    };
  }

  function responseOf(inputs, epsilon) {
    const above = expAbove(epsilon);
    return response(inputs, up(WORD * above, ONE + BigInt(inputs - 1) * above));
  }

  function truthful(inputs, truth) {
    return response(inputs, up((truth.d - truth.n) * WORD, truth.d * BigInt(inputs - 1)));
  }

  function unary(inputs, one, zero) {
    return {
      inputs, outputs: inputs, odds: made(one * (HALF - zero), zero * (HALF - one)),
      draw(code, take) {
        const drawn = take(4 * inputs);
        let bits = 0n;
        for (let at = 0; at < inputs; at += 1) {
          if (number(drawn, 4 * at, 4) < (at === code ? one : zero)) bits |= 1n << BigInt(at);
        }
        return bits;
      },
    };
  }

  function unaryOf(mechanism, inputs, epsilon) {
    const share = (e) => { const above = expAbove(e); return up(HALF * above, ONE + above); };
    if (mechanism === "optimised-unary") return unary(inputs, HALF / 2n, share(epsilon));
    const zero = share(over(epsilon, fraction(2)));
    return unary(inputs, HALF - zero, zero);
  }

  function additive(inputs, reach, cuts, clamped) {
    return {
      inputs, reach, cuts, clamped,
      outputs: clamped ? inputs : inputs + 2 * reach,
      first: clamped ? 0 : -reach,
      draw(code, take) {
        const drawn = word(take);
        let low = 0, high = cuts.length;  // how many cuts are at most what was drawn
        while (low < high) {
          const middle = (low + high) >> 1;
          if (cuts[middle] <= drawn) low = middle + 1; else high = middle;
        }
        const moved = code + low - reach;
        return clamped ? Math.min(Math.max(moved, 0), inputs - 1) : moved + reach;
      },
    };
  }

  function laplace(inputs, epsilon) {
    const reach = inputs - 1;
    const slack = made((1n << 30n) - 1n, 1n << 30n);
    const ratio = expBelow(over(times(epsilon, slack), fraction(reach)));
    const tails = [];
    let power = ONE;
    for (let at = 0; at < reach; at += 1) {
      power = power * ratio >> BITS;
      tails.push(WORD * power / (ONE + ratio));
    }
    const last = tails[reach - 1];
    const channel = additive(inputs, reach, [...tails].reverse().concat(tails.map((tail) => WORD - tail)), true);
    if (last > 0n && last < (reach > 1 ? tails[reach - 2] : WORD)) {
      channel.odds = made(channel.cuts[reach], channel.cuts[0]);
      let least = weight(channel, 0);
      for (let at = 1; at < inputs - 1; at += 1) if (weight(channel, at) < least) least = weight(channel, at);
      const inner = made(weight(channel, 0), least);
      if (inputs > 2 && below(channel.odds, inner)) channel.odds = inner;
      if (atMostExp(channel.odds, epsilon)) return channel;
    }
    throw new Refused([`epsilon is too fine for ${inputs} values; choose a larger step`]);
  }

  function weight(channel, step) {
    const at = channel.reach + step, cuts = channel.cuts;
    return (at < cuts.length ? cuts[at] : WORD) - (at > 0 ? cuts[at - 1] : 0n);
  }

  function gaussian(inputs, sigma) {
    const square = times(sigma, sigma);
    let fall = expBelow(over(fraction(1), times(fraction(2), square)));
    const faster = expBelow(over(fraction(1), square)), sizes = [];
    let size = ONE;
    while (size >> (BITS - 64n) && sizes.length <= LONGEST) {
      sizes.push(size);
      size = size * fall >> BITS;
      fall = fall * faster >> BITS;
    }
    if (sizes.length > LONGEST) throw new Refused(["so much noise takes too many steps; choose a larger step"]);
    return unclamped(inputs, sizes);
  }

  function unclamped(inputs, sizes) {
    const whole = 2n * sizes.reduce((sum, size) => sum + size, 0n) - sizes[0];
    const weights = sizes.map((size) => WORD * size / whole);
    while (weights.length > 1 && weights[weights.length - 1] === 0n) weights.pop();
    const reach = weights.length - 1;
    weights[0] = WORD - 2n * weights.slice(1).reduce((sum, one) => sum + one, 0n);
    const cuts = [];
    let total = 0n;
    for (let at = -reach; at < reach; at += 1) cuts.push(total += weights[Math.abs(at)]);
    return additive(inputs, reach, cuts, false);
  }

  // Columns and plans. What is wrong with a plan is for its author: `privet collect show` says all of it.

  const TAKES = {
    number: {laplace: ["epsilon", "scale"], gaussian: ["sigma"], uniform: ["half_width"], "as-is": []},
    category: {
      "randomised-response": ["epsilon", "truth"], "k-randomised-response": ["epsilon", "truth"],
      unary: ["epsilon"], "optimised-unary": ["epsilon"], "as-is": [],
    },
  };
  const KEYS = {
    number: ["type", "low", "high", "step", "mechanism", "missing", "outside"],
    category: ["type", "values", "mechanism", "missing"],
  };

  function column(name, said) {
    const wrong = (what) => { throw new Refused([`columns.${name}: ${what}`]); };
    if (!stripped(name) || !printable(name) || Array.from(name).length > 200) wrong("a name is printable text");
    if (!isTable(said)) wrong("is not a table");
    if (typeof said.type !== "string" || !has(TAKES, said.type)) wrong("type is one of number, category");
    const known = TAKES[said.type], number = said.type === "number";
    if (typeof said.mechanism !== "string" || !has(known, said.mechanism)) wrong("mechanism is unknown");
    const takes = known[said.mechanism], amounts = takes.filter((key) => has(said, key));
    if (Object.keys(said).some((key) => !KEYS[said.type].includes(key) && !takes.includes(key))) wrong("a key is unknown");
    if (takes.length && amounts.length !== 1) wrong(`say one of ${takes.join(" and ")}, and only one`);
    const made_ = {name, said, number, epsilon: null, amount: amounts[0]};
    let inputs;
    if (number) {
      const [low, high, step] = ["low", "high", "step"].map((key) => fraction(has(said, key) ? said[key] : key === "step" ? 1 : null));
      const fits = (one) => one && isDecimal(one) && !below(fraction(String(FARTHEST)), one.n < 0n ? made(-one.n, one.d) : one);
      if (![low, high, step].every(fits) || step.n <= 0n || !below(low, high)) wrong("low, high and step are numbers");
      const steps = over(minus(high, low), step);
      if (steps.d !== 1n || steps.n >= BigInt(LONGEST)) wrong("step does not divide the way from low to high");
      if (has(said, "outside") && !["refuse", "clamp"].includes(said.outside)) wrong("outside is one of refuse, clamp");
      inputs = Number(steps.n) + 1;
      Object.assign(made_, {low, high, step});
    } else {
      const values = said.values, most = said.mechanism.endsWith("unary") ? 1024 : 2000;
      if (!Array.isArray(values) || values.length < 2 || values.length > most || new Set(values).size < values.length
          || !values.every((value) => typeof value === "string" && value && value === stripped(value) && printable(value))) {
        wrong("values are different texts");
      }
      if (said.mechanism === "randomised-response" && values.length > 2) wrong("randomised-response has two values");
      inputs = values.length;
      made_.codes = new Map(values.map((value, at) => [value, at]));
    }
    made_.channel = channelOf(made_, said, inputs, wrong);
    if (has(said, "missing")) {
      const given = said.missing;
      made_.missing = typeof given === "number" && !Number.isInteger(given) ? "" : code({...made_, missing: undefined}, given);
      if (typeof made_.missing === "string") wrong("missing is one of the column's own values");
    }
    return made_;
  }

  // A column as privet writes it, whatever the form says in other words; the digest is made of that.
  function documented(one) {
    const {said, number} = one;
    const about = number
      ? {type: "number", low: written(one.low), high: written(one.high), step: written(one.step)}
      : {type: "category", values: said.values};
    about.mechanism = said.mechanism;
    if (one.amount) about[one.amount] = written(fraction(said[one.amount]));
    if (one.missing !== undefined) {
      about.missing = number ? shown(plus(one.low, times(fraction(one.missing), one.step))) : said.values[one.missing];
    }
    if (number && said.outside === "clamp") about.outside = "clamp";
    return about;
  }

  function channelOf(made_, said, inputs, wrong) {
    const amount = (key, low, high) => {
      const found = fraction(said[key]);
      if (!found || below(found, low) || below(high, found)) wrong(`${key} is not a number that fits`);
      return found;
    };
    const width = made_.number ? minus(made_.high, made_.low) : null;
    const least = made(1n, 10n ** 15n);
    switch ((made_.number ? "number " : "category ") + said.mechanism) {
      case "number as-is":
      case "category as-is":
        return asIs(inputs);
      case "number laplace":
        made_.epsilon = has(said, "scale") ? over(width, amount("scale", least, width)) : amount("epsilon", SMALLEST, LARGEST);
        if (below(LARGEST, made_.epsilon)) wrong("scale makes an epsilon that hides nothing");
        return laplace(inputs, made_.epsilon);
      case "number gaussian": {
        const sigma = amount("sigma", over(made_.step, fraction(4)), width);
        return gaussian(inputs, over(sigma, made_.step));
      }
      case "number uniform": {
        const reach = over(amount("half_width", least, width), made_.step);
        if (reach.d !== 1n) wrong("half_width is a whole number of steps");
        return unclamped(inputs, Array(Number(reach.n) + 1).fill(1n));
      }
      case "category randomised-response":
      case "category k-randomised-response": {
        if (has(said, "epsilon")) return responseOf(inputs, (made_.epsilon = amount("epsilon", SMALLEST, LARGEST)));
        const truth = amount("truth", least, minus(fraction(1), least));
        const channel = truthful(inputs, truth);
        if (truth.n * BigInt(inputs) === truth.d) wrong("truth is as often said by chance alone");
        if (channel.keep <= 0n || channel.other <= 0n || !atMostExp(channel.odds, LARGEST)) wrong("truth hides nothing");
        made_.epsilon = logAbove(channel.odds);
        return channel;
      }
      case "category unary":
      case "category optimised-unary":
        return unaryOf(said.mechanism, inputs, (made_.epsilon = amount("epsilon", SMALLEST, LARGEST)));
      default:
        return wrong("mechanism is unknown");
    }
  }

  function plan(form) {
    const wrong = (what) => { throw new Refused([what]); };
    if (!isTable(form) || form.collect !== 1 || !isTable(form.columns) || !Object.keys(form.columns).length) {
      wrong("this is not a form of version 1; `privet collect form` writes one");
    }
    const top = ["collect", "purpose", "budget", "columns", "digest"];
    if (Object.keys(form).some((key) => !top.includes(key))) wrong("a key of the form is unknown");
    const purpose = has(form, "purpose") ? form.purpose : "";
    if (typeof purpose !== "string" || !printable(purpose) || Array.from(purpose).length > 500) wrong("purpose: is one line of text");
    const columns = ordered(Object.keys(form.columns)).map((name) => column(name, form.columns[name]));
    const budget = has(form, "budget") ? fraction(form.budget) : null;
    if (has(form, "budget")) {
      if (!budget || budget.n <= 0n || budget.n > budget.d * FARTHEST) wrong("budget: is a number above 0");
      const secret = columns.filter((one) => one.said.mechanism !== "as-is");
      if (secret.some((one) => one.epsilon === null)) wrong("budget: a question has no finite epsilon, so no budget can hold it");
      const first = secret.reduce((sum, one) => plus(sum, one.epsilon), fraction(0));
      if (below(budget, first)) wrong("budget: one round costs more already");
    }
    const said = {collect: 1, purpose: "", columns: Object.fromEntries(columns.map((one) => [one.name, documented(one)]))};
    if (budget !== null) said.budget = written(budget);
    const digest = sha256(new TextEncoder().encode(canonical(said))).slice(0, 16);
    if (has(form, "digest") && form.digest !== digest) {
      wrong("digest: this form was changed after it was made; ask the collector for it again");
    }
    return {columns, digest, budget};
  }

  // FIPS 180-4; a browser's own is only there for pages that were fetched in secrecy, and answers later.
  function sha256(bytes) {
    const primes = [];
    for (let at = 2; primes.length < 64; at += 1) if (primes.every((prime) => at % prime)) primes.push(at);
    const part = (power) => (prime) => { const root = prime ** power; return (root - Math.floor(root)) * 2 ** 32 >>> 0; };
    const round = primes.map(part(1 / 3)), state = primes.slice(0, 8).map(part(1 / 2));
    const size = (bytes.length + 9 + 63) >> 6 << 6, padded = new Uint8Array(size), view = new DataView(padded.buffer);
    padded.set(bytes);
    padded[bytes.length] = 0x80;
    view.setUint32(size - 8, Math.floor(bytes.length / 2 ** 29));
    view.setUint32(size - 4, bytes.length << 3);
    const turned = (x, by) => (x >>> by) | (x << (32 - by));
    const words = new Uint32Array(64);
    for (let block = 0; block < size; block += 64) {
      for (let at = 0; at < 64; at += 1) {
        if (at < 16) { words[at] = view.getUint32(block + 4 * at); continue; }
        const [x, y] = [words[at - 15], words[at - 2]];
        const small = turned(x, 7) ^ turned(x, 18) ^ (x >>> 3), large = turned(y, 17) ^ turned(y, 19) ^ (y >>> 10);
        words[at] = words[at - 16] + small + words[at - 7] + large;
      }
      let [a, b, c, d, e, f, g, h] = state;
      for (let at = 0; at < 64; at += 1) {
        const first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + round[at] + words[at];
        const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        [a, b, c, d, e, f, g, h] = [(first + second) >>> 0, a, b, c, (d + first) >>> 0, e, f, g];
      }
      [a, b, c, d, e, f, g, h].forEach((one, at) => { state[at] = (state[at] + one) >>> 0; });
    }
    return state.map((one) => one.toString(16).padStart(8, "0")).join("");
  }

  // The number of a true answer, or a complaint as text, which never says the answer.
  function code(one, given) {
    if (given === null || given === undefined || (typeof given === "string" && !stripped(given))) {
      if (one.missing === undefined) return `${one.name}: no answer, and the plan does not say what stands for none`;
      return one.missing;
    }
    if (!one.number) {
      const found = typeof given === "string" ? one.codes.get(given) : undefined;
      return found === undefined ? `${one.name}: is not one of the ${one.codes.size} values of the plan` : found;
    }
    const text = stripped(String(given));
    let found = typeof given === "number" || typeof given === "string" ? (text.length > 40 ? null : decimal(text)) : null;
    if (!found) return `${one.name}: is not a number`;
    if (below(found, one.low) || below(one.high, found)) {
      if (one.said.outside !== "clamp") return `${one.name}: is not between ${shown(one.low)} and ${shown(one.high)}`;
      found = below(found, one.low) ? one.low : one.high;
    }
    const at = plus(over(minus(found, one.low), one.step), made(1n, 2n));
    return Number(floor(at.n, at.d));
  }

  function text(one, output) {
    if (typeof output === "bigint") {
      let bits = "b";
      for (let at = 0; at < one.channel.inputs; at += 1) bits += output >> BigInt(at) & 1n ? "1" : "0";
      return bits;
    }
    if (!one.number) return one.said.values[output];
    return shown(plus(one.low, times(fraction((one.channel.first || 0) + output), one.step)));
  }

  function secure(size) {
    const source = globalThis.crypto;
    if (!source || !source.getRandomValues) throw new Refused(["this browser has no secure randomness"]);
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size; at += 65536) source.getRandomValues(bytes.subarray(at, at + 65536));
    return bytes;
  }

  // Perturbed answers to every question, ready to be sent. `take` gives random bytes, and is another one only in tests.
  function answer(form, answers, {storage = null, budget = null, take = secure} = {}) {
    const asked = plan(form);
    if (!isTable(answers)) throw new Refused(["answers are an object with one entry for each column of the plan"]);
    const names = new Set(asked.columns.map((one) => one.name));
    const wrong = Object.keys(answers).filter((name) => !names.has(name)).map((name) => `${name}: unknown key`);
    const codes = asked.columns.map((one) => code(one, has(answers, one.name) ? answers[one.name] : null));
    wrong.push(...codes.filter((found) => typeof found === "string"));
    if (wrong.length) throw new Refused(wrong);
    const found = storage ? remembered(asked, codes, storage, budget, take)
      : asked.columns.map((one, at) => text(one, one.channel.draw(codes[at], take)));
    const said = asked.columns.map((one, at) => [one.name, found[at]]);
    return {plan: asked.digest, answers: Object.fromEntries(said)};
  }

  // The ledger, as privet/collect/respondent.py.

  function opened(storage) {
    const kept = storage.getItem(LEDGER);
    if (kept === null || kept === undefined) return {ledger: 1, questions: {}};
    let document = null;
    try { document = JSON.parse(kept); } catch (error) { document = null; }
    if (!sound(document)) throw new Refused(["this is not a respondent's ledger, or it is damaged"]);
    return document;
  }

  // Is this a ledger that we have written? What costs nothing or less would give back what others have cost.
  function sound(document) {
    const amount = (one) => {
      if (one === null || one === undefined) return true;
      try { return fraction(one).n > 0n; } catch (error) { return false; }
    };
    if (!isTable(document) || document.ledger !== 1 || !isTable(document.questions) || !amount(document.budget)) return false;
    return Object.entries(document.questions).every(([asked, told]) => isTable(told)
      && Object.keys(told).sort().join() === "answers,column,epsilon,mechanism,rounds"
      && says(asked, told)
      && Number.isInteger(told.rounds) && told.rounds >= 0 && amount(told.epsilon) && isTable(told.answers)
      && Object.entries(told.answers).every(([code, said]) => /^[0-9]+$/.test(code) && typeof said === "string"));
  }

  // Is what a ledger says of a question what the question says of itself?
  function says(asked, told) {
    let document = null;
    try { document = JSON.parse(asked); } catch (error) { return false; }
    if (!isTable(document) || Object.keys(document).length !== 1 || Object.keys(document)[0] !== told.column) return false;
    const about = document[told.column];
    if (!isTable(about) || typeof about.mechanism !== "string" || about.mechanism !== told.mechanism) return false;
    return !has(about, "epsilon") || about.epsilon === told.epsilon;
  }

  function cost(document) {
    return Object.values(document.questions).filter((told) => told.epsilon !== null).reduce(
      (sum, told) => plus(sum, times(fraction(told.epsilon), fraction(Object.keys(told.answers).length))), fraction(0));
  }

  function remembered(asked, codes, storage, budget, take) {
    const document = opened(storage), before = cost(document);
    if (document.budget === undefined || document.budget === null) {
      const set = budget === null ? asked.budget : fraction(budget);
      document.budget = set === null ? null : written(set);
    }
    const found = asked.columns.map((one, at) => {
      if (one.said.mechanism === "as-is") return text(one, codes[at]);
      const key = canonical({[one.name]: documented(one)});
      const told = document.questions[key] = document.questions[key] || {
        column: one.name, mechanism: one.said.mechanism, answers: {}, rounds: 0,
        epsilon: one.epsilon === null ? null : written(one.epsilon),
      };
      if (told.epsilon !== (one.epsilon === null ? null : written(one.epsilon))) {  // it would be paid for with less
        throw new Refused(["this is not a respondent's ledger, or it is damaged"]);
      }
      if (!(codes[at] in told.answers)) told.answers[codes[at]] = text(one, one.channel.draw(codes[at], take));
      if (!possible(one, told.answers[codes[at]])) throw new Refused(["this is not a respondent's ledger, or it is damaged"]);
      told.rounds += 1;
      return told.answers[codes[at]];
    });
    if (document.budget !== null) {
      const most = fraction(document.budget), after = cost(document);
      if (Object.values(document.questions).some((told) => told.epsilon === null)) {
        throw new Refused(["a question has no finite epsilon, so no budget can hold it; nothing was given"]);
      }
      if (below(most, after) && below(before, after)) {
        throw new Refused([`these answers would bring epsilon to ${written(after)}, and the budget is ${written(most)}; nothing was given`]);
      }
    }
    storage.setItem(LEDGER, canonical(document) + "\n");  // before anything leaves
    return found;
  }

  // Is this a text that the question's mechanism gives? A damaged ledger must not become an answer.
  function possible(one, said) {
    if (one.said.mechanism.endsWith("unary")) return new RegExp(`^b[01]{${one.channel.inputs}}$`).test(said);
    if (!one.number) return one.codes.has(said);
    const found = stripped(said).length > 40 ? null : decimal(stripped(said));
    const at = found && minus(over(minus(found, one.low), one.step), fraction(one.channel.first || 0));
    return Boolean(at) && at.d === 1n && at.n >= 0n && at.n < BigInt(one.channel.outputs)
      && text(one, Number(at.n)) === said;  // 3e0 and " 3 " are 3, and no client writes it so
  }

  function isDecimal(number) {
    let rest = number.d;
    for (const prime of [2n, 5n]) while (rest % prime === 0n) rest /= prime;
    return rest === 1n;
  }

  function written(number) {
    if (number.d === 1n) return Number(number.n);
    return isDecimal(number) ? shown(number) : `${number.n}/${number.d}`;
  }

  function canonical(value) {
    if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
    if (value === null || typeof value !== "object") return JSON.stringify(value);
    return `{${ordered(Object.keys(value)).map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
  }

  // What each question hides: its local epsilon, or null where none is finite.
  function epsilons(form) {
    return Object.fromEntries(
      plan(form).columns.map((one) => [one.name, one.epsilon === null ? null : written(one.epsilon)]));
  }

  return {answer, epsilons, Refused, LEDGER};
});
