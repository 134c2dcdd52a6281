// What runs @huggingface/jinja: one job from standard input, one answer to standard output.
"use strict";
const { createRequire } = require("node:module");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

function found(place) {
  for (const attempt of [() => createRequire(join(place, "_"))("@huggingface/jinja"), () => createRequire(join(place, "_"))(place)]) {
    try {
      const library = attempt();
      if (library && library.Template) return library;
    } catch {
      // the next one
    }
  }
  return null;
}

function version(place) {
  const inside = createRequire(join(place, "_"));
  for (const name of ["@huggingface/jinja/package.json", join(place, "package.json")]) {
    try {
      const path = name.startsWith("@") ? join(inside.resolve("@huggingface/jinja"), "..", "..", "package.json") : name;
      const facts = JSON.parse(readFileSync(path, "utf8"));
      if (facts.name === "@huggingface/jinja") return facts.version;
    } catch {
      // the next one
    }
  }
  return "";
}

function stopClock(now) {
  const Real = Date;
  globalThis.Date = class extends Real {
    constructor(...given) {
      if (given.length) super(...given);
      else super(...now);
    }
  };
}

function main() {
  const job = JSON.parse(readFileSync(0, "utf8"));
  const library = found(job.place);
  if (!library) return { absent: true };
  if (job.now) stopClock(job.now);
  let template = null;
  let broken = "";
  if (job.jobs.length) {
    try {
      template = new library.Template(job.source);
    } catch (error) {
      broken = String(error && error.message ? error.message : error);
    }
  }
  const results = job.jobs.map((variables) => {
    if (!template) return { error: broken };
    try {
      return { text: template.render(variables) };
    } catch (error) {
      return { error: String(error && error.message ? error.message : error) };
    }
  });
  return { version: version(job.place), results };
}

process.stdout.write(JSON.stringify(main()));
