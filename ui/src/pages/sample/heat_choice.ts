// Which heat maps are asked for, as the address has it. Knows no DOM.

import type { ClassScore, HeatMapAnswer } from "../../api/schema";

export interface HeatChoice {
  method: string;
  targets: string[];
  layer: string;
  loss: boolean;
}

/** As many as fit beside each other. */
export const MOST_MAPS = 4;

export function heatChoice(query: URLSearchParams): HeatChoice {
  const targets = [...new Set(query.getAll("target"))].slice(0, MOST_MAPS);
  return { method: query.get("method") ?? "", targets, layer: query.get("layer") ?? "", loss: query.get("loss") === "1" };
}

/** The targets after a class was clicked: those that are shown, with or without it. None is the predicted class again. */
export function toggled(shown: readonly string[], name: string): string[] {
  if (shown.includes(name)) return shown.filter((one) => one !== name);
  return [...shown, name].slice(-MOST_MAPS);
}

/** The classes that are offered as buttons: what is shown, the prediction, the label, then the likeliest. */
export function offered(shown: readonly string[], prediction: string | null, label: string | null, classes: readonly ClassScore[], most = 7): string[] {
  const likely = classes.filter((one) => one.probability !== null).sort((a, b) => b.probability! - a.probability!).map((one) => one.name);
  const first = [prediction, label].filter((one): one is string => one !== null);
  const all = [...new Set([...first, ...likely])].slice(0, most);
  return [...new Set([...all, ...shown])];
}

export function methodWords(method: string): string {
  return method.replaceAll("_", " ").replaceAll("-", " ");
}

/** Methods that apply, and those that do not with their reason. */
export function methodsOf({ methods }: Pick<HeatMapAnswer, "methods">): { name: string; reason: string }[] {
  return Object.entries(methods).map(([name, reason]) => ({ name, reason })).sort((a, b) => Number(a.reason !== "") - Number(b.reason !== ""));
}
