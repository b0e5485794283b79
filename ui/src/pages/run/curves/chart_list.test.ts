import { describe, expect, it } from "vitest";
import type { ScalarRow } from "../../../api/schema";
import { chartsOf, chosen, grouped, sections } from "./chart_list";

function row(name: string, mode: string, group: ScalarRow["group"]): ScalarRow {
  return { series: `${name}@${mode}`, name, mode, group, derived: false, count: 1, first: 1, last: 1, min: 1, max: 1, last_step: 0, nonfinite: 0 };
}
const rows = [row("loss", "TRAIN", "loss"), row("loss", "EVAL", "loss"), row("accuracy", "EVAL", "metric"), row("lr", "TRAIN", "rate")];
const all = { series: [], group: "", search: "" };

describe("chartsOf", () => {
  it("puts training and evaluation of one metric into one chart, told apart by colour and dash", () => {
    const [loss] = chartsOf(rows);
    expect(loss!.lines.map(({ series, label }) => [series, label])).toEqual([["loss@TRAIN", "train"], ["loss@EVAL", "eval"]]);
    expect(loss!.lines[0]!.colour).not.toBe(loss!.lines[1]!.colour);
    expect(loss!.lines[0]!.dash).not.toBe(loss!.lines[1]!.dash);
  });
  it("gives a mode the same look in every chart", () => {
    const charts = chartsOf(rows);
    expect(charts[1]!.lines[0]).toMatchObject({ colour: charts[0]!.lines[1]!.colour, dash: "dashed" });
  });
});

describe("chosen", () => {
  const charts = chartsOf(rows);
  it("is everything without a choice", () => {
    expect(chosen(charts, all)).toHaveLength(3);
  });
  it("follows series, group and words", () => {
    expect(chosen(charts, { ...all, series: ["loss@EVAL"] }).map(({ name }) => name)).toEqual(["loss"]);
    expect(chosen(charts, { ...all, group: "rate" }).map(({ name }) => name)).toEqual(["lr"]);
    expect(chosen(charts, { ...all, search: "ACC ra" }).map(({ name }) => name)).toEqual(["accuracy"]);
    expect(chosen(charts, { ...all, search: "nothing" })).toEqual([]);
  });
});

it("has groups in one order, and none that is empty", () => {
  expect(grouped(chartsOf([...rows].reverse())).map(({ title }) => title)).toEqual(["Loss", "Metrics", "Learning rate"]);
});

describe("sections", () => {
  it("puts small neighbours into one row", () => {
    expect(sections(chartsOf(rows)).map(({ title, charts }) => [title, charts.length])).toEqual([["Loss · Metrics · Learning rate", 3]]);
  });
  it("gives a large group its own", () => {
    const many = ["a", "b", "c"].map((name) => row(name, "EVAL", "metric"));
    expect(sections(chartsOf([rows[0]!, ...many, rows[3]!])).map(({ title }) => title)).toEqual(["Loss", "Metrics", "Learning rate"]);
  });
});
