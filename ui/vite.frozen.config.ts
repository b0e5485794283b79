// The page of a frozen copy: the same sources as one classic script, since modules and fetch do not work on file://.
// `--mode frozen` is what ui/src/api/frozen.ts looks at; `cutaway studio --export` puts a run's answers beside it.

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

// On file:// every file has an origin of its own, yet for a policy 'self' means the files beside the page: seen in
// Chromium 150 and Firefox 153 (docs/decisions/0024). Nothing is fetched, nothing is evaluated, nothing is inline.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'none'",
  "form-action 'none'",
  "base-uri 'none'",
].join("; ");

function otherEntry(): Plugin {
  return {
    name: "other-entry",
    transformIndexHtml: { order: "pre", handler: (html) => html.replace("/src/main.ts", "/src/main_frozen.ts") },
  };
}

function classicPage(): Plugin {
  return {
    name: "classic-page",
    transformIndexHtml: {
      order: "post",
      handler: (html) =>
        html
          .replace(/\s*<base [^>]*>/, `\n    <meta http-equiv="Content-Security-Policy" content="${POLICY}" />`)
          // On file:// a request that must be of the same origin is refused.
          .replace(/ crossorigin/g, "")
          .replace(/<script type="module"/g, '<script defer src="./data/index.js"></script>\n    <script defer'),
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [svelte(), otherEntry(), classicPage()],
  build: {
    target: "es2022",
    outDir: "../src/cutaway/studio/static/frozen",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: false,
    rolldownOptions: {
      // Vite's loader of chunks asks where it lies; there are no chunks.
      checks: { emptyImportMeta: false },
      output: {
        format: "iife",
        codeSplitting: false,
        entryFileNames: "assets/page.js",
        assetFileNames: "assets/[name][extname]",
      },
    },
  },
});
