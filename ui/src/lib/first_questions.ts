// What a page will ask first, known from its address alone: asked while its scripts are still on their way.

import type { Query, Route } from "./address";

export function firstQuestions(route: Route): [path: string, query: Query][] {
  if (route.run === undefined) return [];
  const run = `runs/${encodeURIComponent(route.run)}`;
  const detail: [string, Query] = [run, {}];
  if (route.page !== "run") return [detail];
  return [detail, [`${run}/scalars`, {}], [`${run}/findings`, { about: "training", limit: 500 }]];
}
