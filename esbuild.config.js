// Bundles the page's modules and styles: node esbuild.config.js [FOLDER].
import { build } from "esbuild";

const PAGE = "harness/report/page";
const NOTE = "Made by `make page` from the files in the folders beside this one: edit those.";
const settings = {
  absWorkingDir: import.meta.dirname,
  outdir: process.argv[2] ?? PAGE,
  entryNames: "bundle",
  bundle: true,
  charset: "utf8", // readable, not minified: whoever has a page can read what it does
  logLevel: "warning",
};

await build({
  ...settings,
  entryPoints: [`${PAGE}/main.js`],
  format: "iife",
  target: ["chrome85", "firefox113", "safari16.4"], // as page.html says
  banner: { js: `// ${NOTE}\n"use strict";` },
});
await build({ ...settings, entryPoints: [`${PAGE}/styles/page.css`], banner: { css: `/* ${NOTE} */` } });
