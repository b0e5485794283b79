import { expect, it } from "vitest";
import type { ChartMark } from "./chart_data";
import { placedMarks } from "./chart_marks";

const mark = (x: number, severity: ChartMark["severity"], label = `at ${x}`): ChartMark => ({ x, severity, label, href: `#${x}` });

it("keeps marks that are far from each other apart", () => {
  const placed = placedMarks([mark(50, "error"), mark(10, "info")], (x) => x, 100);
  expect(placed.map(({ left, severity, count }) => [left, severity, count])).toEqual([[10, "info", 1], [50, "error", 1]]);
});
it("shows those that would lie on each other as their worst, and says how many there are", () => {
  const [one, ...more] = placedMarks([mark(10, "warning"), mark(12, "error"), mark(20, "error")], (x) => x, 100);
  expect(more).toEqual([]);
  expect(one).toMatchObject({ left: 12, severity: "error", href: "#12", count: 3, label: "at 12 (and 2 more here)" });
});
it("leaves out what is outside the range", () => {
  expect(placedMarks([mark(-5, "error"), mark(105, "error")], (x) => x, 100)).toEqual([]);
});
