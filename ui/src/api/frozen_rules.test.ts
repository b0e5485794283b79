import { columnFromArray, dictionary, Table, tableFromArrays, tableFromColumns, tableFromIPC, tableToIPC, utf8 } from "@uwdata/flechette";
import { describe, expect, test, vi } from "vitest";
import { curvesOf } from "../lib/series";
import type { FrozenIndex, Held } from "./frozen";
import { frozenAnswer, inOrder } from "./frozen_rules";

// The client asks where the page is as soon as it is loaded.
vi.stubGlobal("document", { baseURI: "http://studio/" });
const { Columns } = await import("./arrow");

const index: FrozenIndex = { run: "r", name: "r", made: "", version: "", command: "", evaluation: 1, answers: {}, pictures: [], left_out: [] };

function copyOf(answers: Record<string, unknown>): (key: string) => Promise<Held | null> {
  const held = new Map<unknown, Held>();
  return async (key) => {
    if (!Object.hasOwn(answers, key)) return null;
    const value = answers[key];
    const bytes = value instanceof Table ? (tableToIPC(value, { format: "stream" }) as Uint8Array<ArrayBuffer>) : new TextEncoder().encode(JSON.stringify(value));
    if (!held.has(value)) held.set(value, { status: 200, kind: value instanceof Table ? "arrow" : "json", bytes });
    return held.get(value)!;
  };
}

async function asked(answers: Record<string, unknown>, path: string, ...query: [string, string][]): Promise<any> {
  const found = await frozenAnswer(path, query, index, copyOf(answers));
  if (!found) return null;
  return found.kind === "json" ? JSON.parse(new TextDecoder().decode(found.bytes)) : tableFromIPC(found.bytes);
}

function said(table: Table, about: Record<string, unknown>): Table {
  const metadata = new Map(Object.entries(about).map(([key, value]) => [key, JSON.stringify(value)]));
  return new Table({ ...table.schema, metadata }, table.children);
}

function curve(series: string, steps: number[]): Record<string, unknown> {
  const column = Float64Array.from(steps);
  return { series: steps.map(() => series), step: column, epoch: column, time: column, value: column, min: column, max: column, nonfinite: column.map(() => 0) };
}

describe("a list", () => {
  const rows = Array.from({ length: 10 }, (_, i) => ({ i }));
  const answers = { "runs/r/findings": { ok: true, data: rows, total: 25, offset: 0, limit: 10 }, "runs/r/findings\nabout=training": { data: [], total: 0, offset: 0, limit: 10 } };

  test("is answered in parts, as far as it is held", async () => {
    expect((await asked(answers, "runs/r/findings", ["limit", "3"], ["offset", "4"])).data).toEqual([{ i: 4 }, { i: 5 }, { i: 6 }]);
    expect(await asked(answers, "runs/r/findings", ["limit", "1000"])).toMatchObject({ data: rows, total: 25 });
    expect(await asked(answers, "runs/r/findings", ["offset", "10"])).toBeNull();
    expect((await asked(answers, "runs/r/findings", ["about", "training"], ["limit", "500"])).data).toEqual([]);
    expect(await asked(answers, "runs/r/findings", ["layer", "conv"])).toBeNull();
  });

  test("of jobs is empty", async () => {
    expect(await asked({}, "jobs", ["limit", "20"])).toMatchObject({ data: [], total: 0 });
  });
});

test("the evaluation that is shown may be named or not, another one is another question", async () => {
  const answers = { "runs/r/population": { data: "shown" }, "runs/r/population\nevaluation=0": { data: "other" } };
  expect(await asked(answers, "runs/r/population", ["evaluation", "1"])).toEqual({ data: "shown" });
  expect(await asked(answers, "runs/r/population")).toEqual({ data: "shown" });
  expect(await asked(answers, "runs/r/population", ["evaluation", "0"])).toEqual({ data: "other" });
  expect(await asked(answers, "runs/r/population", ["evaluation", "7"])).toBeNull();
});

describe("curves", () => {
  const one = said(tableFromArrays(curve("loss@TRAIN", [0, 1, 2, 3]) as never), { points: { "loss@TRAIN": 4 }, thinned: [], approximate: {} });
  const two = said(tableFromArrays(curve("acc@TRAIN", [0, 10, 20, 30]) as never), { points: { "acc@TRAIN": 40 }, thinned: ["acc@TRAIN"], approximate: { "acc@TRAIN": "coarse" } });
  const answers = { "runs/r/curves.arrow\nseries=loss@TRAIN": one, "runs/r/curves.arrow\nseries=acc@TRAIN": two };
  const path = "runs/r/curves.arrow";

  test("of several answers come together, with what is said of each", async () => {
    const found = curvesOf(new Columns(await asked(answers, path, ["series", "loss@TRAIN"], ["series", "acc@TRAIN"], ["points", "1000"])));
    expect([...found.get("loss@TRAIN")!.step]).toEqual([0, 1, 2, 3]);
    expect(found.get("loss@TRAIN")!.every).toBe(1);
    expect(found.get("acc@TRAIN")).toMatchObject({ whole: 40, every: 10, approximate: "coarse" });
  });

  test("in a window are those points of the whole that lie in it, and still say that they are thinned", async () => {
    const found = curvesOf(new Columns(await asked(answers, path, ["series", "acc@TRAIN"], ["from", "5"], ["to", "25"])));
    expect([...found.get("acc@TRAIN")!.step]).toEqual([10, 20]);
    expect(found.get("acc@TRAIN")).toMatchObject({ whole: 20, every: 10 });
  });

  test("that are not held are not made up", async () => {
    expect(await asked(answers, path, ["series", "loss@TRAIN"], ["series", "other@TRAIN"])).toBeNull();
  });
});

test("a window of a tensor has the points of the whole that lie in it", async () => {
  const whole = said(tableFromArrays({ step: Float64Array.of(0, 5, 10), l2: [1, null, 3] }), { exact: true });
  const found = await asked({ "runs/r/tensor/series.arrow\nname=w": whole }, "runs/r/tensor/series.arrow", ["name", "w"], ["from", "5"], ["to", "10"], ["points", "600"]);
  const columns = new Columns(found);
  expect([...columns.numbers("step")]).toEqual([5, 10]);
  expect([...columns.numbers("l2")]).toEqual([NaN, 3]);
  expect(columns.about("exact")).toBe("true");
});

describe("columns of a population", () => {
  const label = said(tableFromColumns({ label: columnFromArray(["a", "b", null, "a"], dictionary(utf8())) as never }), { n: 4, columns: { label: { other: null } } });
  const loss = said(tableFromArrays({ loss: Float32Array.of(1, 2, NaN, 4) }), { n: 4, columns: { loss: { type: "float" } } });
  const answers = { "runs/r/population/columns.arrow\ncolumn=label": label, "runs/r/population/columns.arrow\ncolumn=loss": loss };

  test("come together, kinds as kinds and numbers as narrow as they were", async () => {
    const found = new Columns(await asked(answers, "runs/r/population/columns.arrow", ["evaluation", "1"], ["column", "label"], ["column", "loss"]));
    const { codes, names } = found.codes("label");
    expect([...codes].map((code) => names[code] ?? null)).toEqual(["a", "b", null, "a"]);
    expect(found.floats("loss")).toEqual(Float32Array.of(1, 2, NaN, 4));
    expect(JSON.parse(found.about("columns")!)).toEqual({ label: { other: null }, loss: { type: "float" } });
  });

  test("are refused where one of them is not held", async () => {
    expect(await asked(answers, "runs/r/population/columns.arrow", ["column", "label"], ["column", "age"])).toBeNull();
  });
});

describe("rows", () => {
  const rows = [{ row: 0, sample: "test/0", label: "cat", loss: 0.1 }, { row: 1, sample: "test/1", label: "dog", loss: null }, { row: 2, sample: "test/2", label: "dog", loss: 3 }];
  const answers = { "runs/r/population/rows": { data: rows }, "runs/r/tensors\nsort=model": { data: [{ name: "b", l2: 1, collections: ["x"] }, { name: "A", l2: 2, collections: [] }], total: 2 } };

  test("of a population come by number and by id, in the order that was asked for", async () => {
    const found = await asked(answers, "runs/r/population/rows", ["row", "2"], ["row", "0"], ["row", "9"]);
    expect(found.data).toEqual([rows[2], rows[0]]);
    expect((await asked(answers, "runs/r/population/rows", ["sample", "test/1"], ["sample", "no"])).data).toEqual([rows[1]]);
  });

  test("of a population are searched by a part of their id or label, the worst first", async () => {
    expect((await asked(answers, "runs/r/population/search", ["text", "DOG"])).data).toEqual([rows[2], rows[1]]);
    expect(await asked(answers, "runs/r/population/search", ["where", "label = dog"])).toBeNull();
  });

  test("of tensors are sorted and searched", async () => {
    expect((await asked(answers, "runs/r/tensors", ["sort", "-l2"])).data.map((one: { name: string }) => one.name)).toEqual(["A", "b"]);
    expect(await asked(answers, "runs/r/tensors", ["search", "B"], ["limit", "8"])).toMatchObject({ total: 1, data: [{ name: "b" }] });
    expect((await asked(answers, "runs/r/tensors", ["collection", "x"])).total).toBe(1);
  });

  test("with nothing there come last, both ways", () => {
    expect(inOrder([{ a: null }, { a: 2 }, { a: 1 }], "a")).toEqual([{ a: 1 }, { a: 2 }, { a: null }]);
    expect(inOrder([{ a: null }, { a: 1 }, { a: 2 }], "-a")).toEqual([{ a: 2 }, { a: 1 }, { a: null }]);
  });
});
