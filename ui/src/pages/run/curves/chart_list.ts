// Which charts a run has: one for each name, with its modes in it, in groups.

import type { ScalarRow } from "../../../api/schema";
import type { Dash } from "../../../lib/chart_data";
import type { CurvesView } from "./view";

export type Group = ScalarRow["group"];
export const GROUPS: readonly [Group, string][] = [
  ["loss", "Loss"],
  ["metric", "Metrics"],
  ["rate", "Learning rate"],
  ["throughput", "Throughput"],
  ["other", "Other"],
];

export interface ChartLine {
  series: string;
  label: string;
  colour: number;
  dash: Dash;
}

export interface ChartPlan {
  /** Unique on the page. */
  id: string;
  name: string;
  group: Group;
  lines: ChartLine[];
}

const LOOKS: Record<string, { colour: number; dash: Dash }> = {
  TRAIN: { colour: 1, dash: "solid" },
  EVAL: { colour: 2, dash: "dashed" },
  PREDICT: { colour: 3, dash: "dotted" },
  GLOBAL: { colour: 1, dash: "solid" },
};

/** One chart for each name: what training and evaluation have of one metric belongs side by side. */
export function chartsOf(scalars: readonly ScalarRow[]): ChartPlan[] {
  const found = new Map<string, ChartPlan>();
  for (const row of scalars) {
    const id = `${row.group}/${row.name}`;
    const chart = found.get(id) ?? { id, name: row.name, group: row.group, lines: [] };
    const look = LOOKS[row.mode] ?? { colour: 4 + chart.lines.length, dash: "dotted" as const };
    chart.lines.push({ series: row.series, label: row.mode.toLowerCase(), ...look });
    found.set(id, chart);
  }
  return [...found.values()];
}

/** The charts that the view asks for: those of its series, of its group, with its words in their names. */
export function chosen(charts: readonly ChartPlan[], view: Pick<CurvesView, "series" | "group" | "search">): ChartPlan[] {
  const wanted = new Set(view.series);
  const words = view.search.toLowerCase().split(/\s+/).filter(Boolean);
  return charts.filter(
    (chart) =>
      (wanted.size === 0 || chart.lines.some((line) => wanted.has(line.series))) &&
      (view.group === "" || chart.group === view.group) &&
      words.every((word) => chart.name.toLowerCase().includes(word)),
  );
}

export interface ChartGroup {
  group: Group;
  title: string;
  charts: ChartPlan[];
}

export function grouped(charts: readonly ChartPlan[]): ChartGroup[] {
  return GROUPS.map(([group, title]) => ({ group, title, charts: charts.filter((chart) => chart.group === group) })).filter(({ charts: own }) => own.length > 0);
}

export interface ChartSection {
  title: string;
  charts: ChartPlan[];
}

/** Groups of one or two charts share a row with their neighbours: a row for each would be mostly empty. */
export function sections(charts: readonly ChartPlan[]): ChartSection[] {
  const found: (ChartSection & { small: boolean })[] = [];
  for (const { title, charts: own } of grouped(charts)) {
    const small = own.length <= 2;
    const last = found.at(-1);
    if (last?.small && small) {
      last.title += ` · ${title}`;
      last.charts = [...last.charts, ...own];
    } else found.push({ title, charts: own, small });
  }
  return found.map(({ title, charts: own }) => ({ title, charts: own }));
}
