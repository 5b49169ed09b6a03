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

  const BITS = 192n, ONE = 1n << BITS, ERROR = 1n << 32n, WORD = 1n << 64n, HALF = 1n << 32n;
  const LONGEST = 1 << 17, SMALLEST = fraction("1/1000"), LARGEST = fraction("20");
  const LEDGER = "privet-collect-ledger";

  class Refused extends Error {
    constructor(complaints) {
      super(complaints.join("\n"));
      this.name = "Refused";
      this.complaints = complaints;
    }
  }

  // Exact fractions: {n, d}, d > 0, in lowest terms.

  function made(n, d) {
    if (d < 0n) [n, d] = [-n, -d];
    let [a, b] = [n < 0n ? -n : n, d];
    while (b) [a, b] = [b, a % b];
    return {n: n / a, d: d / a};
  }

  function fraction(given) {
    if (typeof given === "boolean" || (typeof given !== "number" && typeof given !== "string")) return null;
    const text = String(given).trim();
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

  function column(name, said) {
    const wrong = (what) => { throw new Refused([`columns.${name}: ${what}`]); };
    if (!said || typeof said !== "object") wrong("is not a table");
    const number = said.type === "number";
    if (!number && said.type !== "category") wrong("type is one of number, category");
    const made_ = {name, said, number, epsilon: null};
    let inputs;
    if (number) {
      const [low, high, step] = ["low", "high", "step"].map((key) => fraction(key in said ? said[key] : 1));
      if (!low || !high || !step || step.n <= 0n || !below(low, high)) wrong("low, high and step are numbers");
      const steps = over(minus(high, low), step);
      if (steps.d !== 1n || steps.n >= BigInt(LONGEST)) wrong("step does not divide the way from low to high");
      inputs = Number(steps.n) + 1;
      Object.assign(made_, {low, high, step});
    } else {
      const values = said.values;
      if (!Array.isArray(values) || values.length < 2 || new Set(values).size < values.length
          || !values.every((value) => typeof value === "string" && value.trim())) wrong("values are different texts");
      inputs = values.length;
      made_.codes = new Map(values.map((value, at) => [value, at]));
    }
    made_.channel = channelOf(made_, said, inputs, wrong);
    if ("missing" in said) {
      made_.missing = code({...made_, missing: undefined}, said.missing);
      if (typeof made_.missing === "string") wrong("missing is one of the column's own values");
    }
    return made_;
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
        made_.epsilon = "scale" in said ? over(width, amount("scale", least, width)) : amount("epsilon", SMALLEST, LARGEST);
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
        if ("truth" in said === "epsilon" in said) wrong("say one of epsilon and truth, and only one");
        if ("epsilon" in said) return responseOf(inputs, (made_.epsilon = amount("epsilon", SMALLEST, LARGEST)));
        const truth = amount("truth", least, minus(fraction(1), least));
        const channel = truthful(inputs, truth);
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
    if (!form || form.collect !== 1 || !form.columns || typeof form.columns !== "object") {
      throw new Refused(["this is not a form of version 1; `privet collect form` writes one"]);
    }
    const columns = Object.keys(form.columns).map((name) => column(name, form.columns[name]));
    return {columns, digest: form.digest, budget: "budget" in form ? fraction(form.budget) : null};
  }

  // The number of a true answer, or a complaint as text, which never says the answer.
  function code(one, given) {
    if (given === null || given === undefined || (typeof given === "string" && !given.trim())) {
      if (one.missing === undefined) return `${one.name}: no answer, and the plan does not say what stands for none`;
      return one.missing;
    }
    if (!one.number) {
      const found = typeof given === "string" ? one.codes.get(given) : undefined;
      return found === undefined ? `${one.name}: is not one of the ${one.codes.size} values of the plan` : found;
    }
    const text = String(given).trim();
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
    const names = new Set(asked.columns.map((one) => one.name));
    const wrong = Object.keys(answers).filter((name) => !names.has(name)).map((name) => `${name}: unknown key`);
    const codes = asked.columns.map((one) => code(one, answers[one.name]));
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
    const table = (one) => typeof one === "object" && one !== null && !Array.isArray(one);
    const amount = (one) => {
      if (one === null || one === undefined) return true;
      try { return fraction(one).n > 0n; } catch (error) { return false; }
    };
    if (!table(document) || document.ledger !== 1 || !table(document.questions) || !amount(document.budget)) return false;
    return Object.values(document.questions).every((told) => table(told)
      && Object.keys(told).sort().join() === "answers,column,epsilon,mechanism,rounds"
      && typeof told.column === "string" && typeof told.mechanism === "string"
      && Number.isInteger(told.rounds) && told.rounds >= 0 && amount(told.epsilon) && table(told.answers)
      && Object.entries(told.answers).every(([code, said]) => /^[0-9]+$/.test(code) && typeof said === "string"));
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
      const key = canonical({[one.name]: one.said});
      const told = document.questions[key] = document.questions[key] || {
        column: one.name, mechanism: one.said.mechanism, answers: {}, rounds: 0,
        epsilon: one.epsilon === null ? null : written(one.epsilon),
      };
      if (!(codes[at] in told.answers)) told.answers[codes[at]] = text(one, one.channel.draw(codes[at], take));
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

  function written(number) {
    if (number.d === 1n) return Number(number.n);
    let rest = number.d;
    for (const prime of [2n, 5n]) while (rest % prime === 0n) rest /= prime;
    return rest === 1n ? shown(number) : `${number.n}/${number.d}`;
  }

  function canonical(value) {
    if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
    if (value === null || typeof value !== "object") return JSON.stringify(value);
    return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
  }

  // What each question hides: its local epsilon, or null where none is finite.
  function epsilons(form) {
    return Object.fromEntries(
      plan(form).columns.map((one) => [one.name, one.epsilon === null ? null : written(one.epsilon)]));
  }

  return {answer, epsilons, Refused, LEDGER};
});
