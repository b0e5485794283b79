import { describe, expect, it } from "vitest";
import { binned } from "../../map/binning";
import type { Column } from "../../map/columns";
import { tallied } from "./tally";

const columns: Record<string, Column> = {
  label: { kind: "category", name: "label", codes: Int32Array.of(0, 0, 1, 1), names: ["a", "b"] },
  prediction: { kind: "category", name: "prediction", codes: Int32Array.of(1, 0, 1, 0), names: ["a", "b"] },
  subset: { kind: "category", name: "subset", codes: Int32Array.of(0, 0, 0, 0), names: ["validation", "training"] },
  loss: { kind: "number", name: "loss", values: Float32Array.of(0.5, 1.5, 2.5, 3.5) },
};
const bins = new Map<Column, ReturnType<typeof binned>>();
const bin = (column: Column) => bins.get(column) ?? bins.set(column, binned(column)).get(column)!;
const tally = (chosen: Uint32Array | null, beside = chosen) => tallied({ histograms: ["label", "nothing"], against: "label", confusion: true, legend: "label" }, chosen, beside, (name) => columns[name], bin, ["a", "b"]);

describe("what is counted of a selection", () => {
  it("is everything where nothing is selected", () => {
    const found = tally(null);
    expect([...found.bars.keys()]).toEqual(["label"]);
    expect([...found.bars.get("label")!.chosen]).toEqual([2, 2]);
    expect(found.against!.means.map((one) => one.mean)).toEqual([1, 3]);
    expect([...found.confusion!.confusion.counts]).toEqual([1, 1, 1, 1]);
    expect([...found.legend!]).toEqual([2, 2]);
  });

  it("has all beside what is selected", () => {
    const found = tally(Uint32Array.of(3));
    expect([...found.bars.get("label")!.all]).toEqual([2, 2]);
    expect([...found.bars.get("label")!.chosen]).toEqual([0, 1]);
    expect(found.against!.all.map((one) => one.mean)).toEqual([1, 3]);
    expect(found.against!.means[0]!.count).toBe(0);
    expect([...found.legend!]).toEqual([0, 1]);
  });

  it("has the confusions of all that is selected but for labels and predictions", () => {
    expect([...tally(Uint32Array.of(3), null).confusion!.confusion.counts]).toEqual([1, 1, 1, 1]);
  });

  it("has the confusions of what is held out, and of training only where it is asked for", () => {
    const mixed: Record<string, Column> = { ...columns, subset: { kind: "category", name: "subset", codes: Int32Array.of(0, 1, 0, 1), names: ["validation", "training"] } };
    const confused = (subsets: boolean) => tallied({ histograms: [], against: "", confusion: true, subsets }, null, null, (name) => mixed[name], bin, ["a", "b"]).confusion!;
    expect([...confused(false).confusion.counts]).toEqual([0, 1, 0, 1]);
    expect([confused(false).counted.left, confused(false).counted.mixed]).toEqual([2, false]);
    expect([...confused(true).confusion.counts]).toEqual([1, 1, 1, 1]);
    expect([confused(true).counted.left, confused(true).counted.mixed]).toEqual([0, true]);
  });

  it("has the mean loss of what is held out, and of training only where it is asked for or compared", () => {
    const mixed: Record<string, Column> = { ...columns, subset: { kind: "category", name: "subset", codes: Int32Array.of(0, 1, 0, 1), names: ["validation", "training"] } };
    const against = (column: string, subsets: boolean, chosen: Uint32Array | null = null) => tallied({ histograms: [], against: column, confusion: false, subsets }, chosen, chosen, (name) => mixed[name], bin, ["a", "b"]).against!;
    expect(against("label", false).means.map((one) => [one.count, one.mean])).toEqual([[1, 0.5], [1, 2.5]]);
    expect([against("label", false).counted.left, against("label", false).counted.mixed]).toEqual([2, false]);
    expect(against("label", true).means.map((one) => [one.count, one.mean])).toEqual([[2, 1], [2, 3]]);
    expect([against("label", true).counted.left, against("label", true).counted.mixed]).toEqual([0, true]);
    expect(against("label", false, Uint32Array.of(0, 1)).all.map((one) => one.count)).toEqual([1, 1]);
    expect(against("label", false, Uint32Array.of(1, 3)).means.map((one) => one.mean)).toEqual([1.5, 3.5]);
    expect(against("subset", false).means.map((one) => one.mean).sort()).toEqual([1.5, 2.5]);
    expect([against("subset", false).counted.left, against("subset", false).counted.mixed]).toEqual([0, false]);
  });
});
