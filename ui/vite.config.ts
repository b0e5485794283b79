import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

const studio = process.env.CUTAWAY_API ?? "http://127.0.0.1:8600";

// The pages of a run are asked for with the first script, not after it has run: people come for a run.
function fetchRunEarly(): Plugin {
  return {
    name: "fetch-run-early",
    transformIndexHtml: {
      order: "post",
      handler: (_html, { bundle }) =>
        Object.values(bundle ?? {}).flatMap((file) => {
          if (!/assets\/run-.*\.(js|css)$/.test(file.fileName)) return [];
          const script = file.fileName.endsWith(".js");
          const attrs = { rel: script ? "modulepreload" : "stylesheet", href: `./${file.fileName}`, crossorigin: true };
          return [{ tag: "link", attrs, injectTo: "head" as const }];
        }),
    },
  };
}

// Addresses are relative to <base>, which the server sets: the page works below any path of a proxy.
export default defineConfig({
  base: "./",
  plugins: [svelte(), fetchRunEarly()],
  build: {
    target: "es2022",
    outDir: "../src/cutaway/studio/static",
    emptyOutDir: true,
    // An inlined asset would be a data: address, which the page's policy allows for pictures only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What the first curve needs comes in two files: each small one would cost a request before it. Whoever looks at
          // samples instead does not load the pages of tensors.
          groups: [
            { name: "shared", test: /node_modules.svelte|src.(App|api|lib|components).(?!Chart|arrow)/, priority: 3 },
            { name: "run", test: /src.pages.run.(CurvesTab|curves.)|RunPage.svelte|Chart.svelte|arrow.ts|uplot|flechette/, priority: 2 },
            { name: "pieces", test: /src.pages.run.(samples.window|tensors.paged)/, priority: 2 },
            { name: "training", test: /src.pages.run[^s]/, priority: 1 },
          ],
        },
      },
    },
  },
  // `npm run dev` beside a `cutaway studio` on this address.
  // The studio takes changes from its own page only: through this proxy the page is its own.
  server: { proxy: { "/api": { target: studio, changeOrigin: true, headers: { origin: studio } } } },
});
