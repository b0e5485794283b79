import { describe, expect, it } from "vitest";
import { binned } from "./binning";
import type { CodedColumn, NumberColumn } from "./columns";
import { paintOf } from "./columns_paint";

const column = (name: string, codes: number[], names: string[]): CodedColumn => ({ kind: "category", name, codes: Int32Array.from(codes), names });

describe("colours of a column", () => {
  it("are the same for a label and for a prediction of it", () => {
    const [label, prediction] = [column("label", [0, 1, -1], ["cat", "dog"]), column("prediction", [0, 1, 0], ["dog", "cat"])];
    const classes = ["cat", "dog", "cow"];
    const [one, other] = [label, prediction].map((each) => paintOf(each, binned(each), classes, "light"));
    expect(one!.colours.palette[one!.colours.codes[0]!]).toBe(other!.colours.palette[other!.colours.codes[1]!]);
    expect(one!.colours.codes[2]).toBe(one!.colours.palette.length - 1);
    expect(one!.legend).toMatchObject({ type: "kinds", note: "" });
  });

  it("go round where there are more kinds than colours, and the legend says so", () => {
    const names = Array.from({ length: 5000 }, (_, i) => `class ${i}`);
    const many = paintOf(column("label", [0, 4999], names), binned(column("label", [0, 4999], names)), names, "dark");
    expect(many.colours.palette.length).toBeLessThanOrEqual(4096);
    expect(many.legend.type === "kinds" && many.legend.note).toContain("repeat");
  });

  it("go along a ramp for numbers", () => {
    const loss: NumberColumn = { kind: "number", name: "loss", values: Float32Array.of(0, 0.5, 1.5, NaN) };
    const paint = paintOf(loss, binned(loss), [], "light");
    expect(paint.legend).toMatchObject({ type: "ramp", min: 0, max: 1.5, log: false });
    expect(paint.colours.codes[0]).toBeLessThan(paint.colours.codes[2]!);
    expect(paint.colours.codes[3]).toBe(paint.colours.palette.length - 1);
  });
});
