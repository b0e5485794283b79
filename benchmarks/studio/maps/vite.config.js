import { join } from "node:path";

const peer = process.env.BENCH_PEER;
export default {
  base: "./",
  resolve: {
    alias: {
      "@map": process.env.BENCH_MAP,
      "regl-scatterplot": join(peer, "regl-scatterplot", "dist", "regl-scatterplot.esm.js"),
      "pub-sub-es": join(peer, "pub-sub-es"),
      regl: join(peer, "regl"),
    },
  },
};
