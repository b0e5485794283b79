// What a page will ask first, known from its address alone: asked while its scripts are still on their way.

import type { Query, Route } from "./address";

export function firstQuestions(route: Route, query: URLSearchParams = new URLSearchParams()): [path: string, query: Query][] {
  if (route.run === undefined) return [];
  const run = `runs/${encodeURIComponent(route.run)}`;
  const detail: [string, Query] = [run, {}];
  const sample = query.get("sample");
  const evaluation = /^\d+$/.exec(query.get("evaluation") ?? "")?.[0] ?? null;
  const population: [string, Query] = [`${run}/population`, { evaluation }];
  if (route.page === "population") return [detail, population];
  if (route.page === "sample" && sample) return [detail, [`${run}/sample`, { sample, evaluation }], population];
  if (route.page !== "run") return [detail];
  return [detail, [`${run}/scalars`, {}], [`${run}/findings`, { about: "training", limit: 500 }]];
}
