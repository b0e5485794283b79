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

  const kinds = (count: number) => {
    const names = Array.from({ length: count }, (_, i) => `class ${i}`), all = column("label", names.map((_, i) => i), names);
    return paintOf(all, binned(all), names, "dark");
  };

  it("are ten, and the same ten as triangles for classes 11 to 20", () => {
    const { colours, legend } = kinds(20);
    expect(new Set(colours.palette.slice(0, 10)).size).toBe(10);
    expect(colours.palette.slice(10, 20)).toEqual(colours.palette.slice(0, 10));
    expect(colours.triangles).toEqual([...Array(10).fill(false), ...Array(10).fill(true), false]);
    expect(legend).toMatchObject({ repeats: false, note: "Triangles have the colours of dots again." });
    expect(legend.type === "kinds" && legend.kinds.map((one) => one.triangle)).toEqual(colours.triangles!.slice(0, 20));
  });

  it("come again beyond that, where names are written on the map", () => {
    const { colours, legend } = kinds(5000);
    expect(colours.palette).toHaveLength(21);
    expect(colours.codes[4999]).toBe(19);
    expect(legend).toMatchObject({ repeats: true, note: "After 20, marks repeat: tell classes by their names." });
  });

  it("are those of the light theme in the dark one", () => {
    const label = column("label", [0, 1], ["cat", "dog"]);
    const [light, dark] = (["light", "dark"] as const).map((theme) => paintOf(label, binned(label), ["cat", "dog"], theme).colours.palette.slice(0, 2));
    expect(light).toEqual(dark);
  });

  it("go along a ramp for numbers", () => {
    const loss: NumberColumn = { kind: "number", name: "loss", values: Float32Array.of(0, 0.5, 1.5, NaN) };
    const paint = paintOf(loss, binned(loss), [], "light");
    expect(paint.legend).toMatchObject({ type: "ramp", min: 0, max: 1.5, log: false });
    expect(paint.colours.codes[0]).toBeLessThan(paint.colours.codes[2]!);
    expect(paint.colours.codes[3]).toBe(paint.colours.palette.length - 1);
  });
});
