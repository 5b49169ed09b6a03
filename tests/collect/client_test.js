// Run by test_client_js.py: node client_test.js CLIENT < tasks.json, one task after another; answers as JSON.
"use strict";
const client = require(process.argv[2]);
const tasks = JSON.parse(require("fs").readFileSync(0, "utf8"));

function known(hex) {
  let at = 0;
  return (size) => {
    const bytes = Buffer.from(hex.slice(at, at + 2 * size), "hex");
    if (bytes.length !== size) throw new Error("more random bytes were asked for than there are");
    at += 2 * size;
    return bytes;
  };
}

const kept = new Map();
const storage = {getItem: (key) => (kept.has(key) ? kept.get(key) : null), setItem: (key, value) => kept.set(key, value)};

const done = tasks.map((task) => {
  const options = {};
  if (task.bytes !== undefined) options.take = known(task.bytes);
  if (task.kept !== undefined) kept.set(client.LEDGER, task.kept);
  if (task.ledger) options.storage = storage;
  if (task.budget !== undefined) options.budget = task.budget;
  try {
    const sent = task.epsilons ? client.epsilons(task.form) : client.answer(task.form, task.answers, options);
    return {sent, ledger: storage.getItem(client.LEDGER)};
  } catch (error) {
    if (!(error instanceof client.Refused)) throw error;
    return {complaints: error.complaints, ledger: storage.getItem(client.LEDGER)};
  }
});
process.stdout.write(JSON.stringify(done));
