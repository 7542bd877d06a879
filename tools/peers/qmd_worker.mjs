// One process of qmd, asked as worker.py is: `build` or `warm`, by words alone, through the package's own library. Its cold
// query is its command line. Nothing of a model is loaded: searchLex is its BM25 over SQLite.
import { readFileSync, writeFileSync, mkdirSync, existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [step, ...rest] = process.argv.slice(2);
const given = {};
for (let at = 0; at < rest.length; at += 2) given[rest[at].slice(2)] = rest[at + 1];
const root = join(given.packages, "@tobilu/qmd");
const { createStore } = await import(pathToFileURL(join(root, "dist/index.js")));

const lines = (name) => readFileSync(join(given.input, name), "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
const ms = () => performance.now();
const cpuMs = () => { const used = process.cpuUsage(); return (used.user + used.system) / 1e3; };
const write = (value) => writeFileSync(given.out, JSON.stringify(value, null, 1) + "\n");
const peak = () => process.resourceUsage().maxRSS * 1024;
const rank = (values, percent) => values.slice().sort((a, b) => a - b)[Math.max(0, Math.ceil(percent / 100 * values.length) - 1)];

if (step === "build") {
  const folder = join(given.store, "passages");
  // Writing the files is the input's work, as the passages of the others are: not timed.
  lines("passages.jsonl").forEach((one, row) => {
    const part = join(folder, String(Math.floor(row / 500)).padStart(4, "0"));
    if (row % 500 === 0) mkdirSync(part, { recursive: true });
    writeFileSync(join(part, `${row}.md`), `# ${one.title}\n\n${one.text}\n`);
  });
  const [wall, cpu] = [ms(), cpuMs()];
  const store = await createStore({ dbPath: join(given.store, "qmd.sqlite"), config: { collections: {} } });
  await store.addCollection("passages", { path: folder, pattern: "**/*.md" });
  await store.update();
  await store.close();
  const version = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;
  write({ load_s: (ms() - wall) / 1e3, load_cpu_s: (cpuMs() - cpu) / 1e3, build_s: 0, build_cpu_s: 0, peak_rss_bytes: peak(),
    settings: { index: "FTS5 of SQLite over Markdown files; `search` alone, no model" },
    versions: { "@tobilu/qmd": version, node: process.version } });
} else {
  const texts = lines("queries.jsonl").map((line) => line.text);
  const seconds = Number(given.seconds);
  const opening = ms();
  const store = await createStore({ dbPath: join(given.store, "qmd.sqlite") });
  const open_ms = ms() - opening;
  for (const text of texts.slice(0, 20)) await store.searchLex(text, { limit: 10 });
  const rounds = [], cpus = [];
  let answered = 0;
  for (let round = 0; round < 3; round++) {
    const values = [], start = ms(), cpu = cpuMs();
    for (const text of round === 0 ? texts : texts.slice(0, rounds[0].length)) {
      const before = ms();
      const found = await store.searchLex(text, { limit: 10 });
      values.push(ms() - before);
      if (round === 0 && found.length) answered++;
      if (round === 0 && ms() - start > seconds * 1e3 && values.length >= 10) break;
    }
    rounds.push(values);
    cpus.push((cpuMs() - cpu) / values.length);
    if (round === 0 && ms() - start > seconds * 1e3) break;
  }
  const figure = (percent) => Math.min(...rounds.map((values) => rank(values, percent)));
  write({ open_ms, failed: {}, peak_rss_bytes: peak(), text: [{ setting: {}, recall: null, p50_ms: figure(50), p95_ms: figure(95),
    p99_ms: figure(99), cpu_ms: Math.min(...cpus), queries: rounds[0].length, rounds: rounds.length, answered }] });
  await store.close();
}
process.exit(0);
