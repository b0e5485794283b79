import { describe, expect, it } from "vitest";
import type { RunColumn } from "../../api/schema";
import * as columns from "./columns";

const { DEFAULT_COLUMNS, chosenColumns, columnsInAddress, fitting, moved, nextSort, readKept, shownColumn, sortOf, toggled, valueText } = columns;

describe("chosenColumns", () => {
  it("takes the address before what was kept before the default", () => {
    expect(chosenColumns(["steps"], ["tags"])).toEqual(["steps"]);
    expect(chosenColumns([], ["tags"])).toEqual(["tags"]);
    expect(chosenColumns([], null)).toEqual(DEFAULT_COLUMNS);
  });
  it("has each column once, and the name never", () => {
    expect(chosenColumns(["name", "steps", "steps", ""], null)).toEqual(["steps"]);
  });
  it("shows the default where nothing is left", () => {
    expect(chosenColumns([], [])).toEqual(DEFAULT_COLUMNS);
  });
});

it("puts columns into the address only where they are not the default", () => {
  expect(columnsInAddress(DEFAULT_COLUMNS)).toEqual([]);
  expect(columnsInAddress([...DEFAULT_COLUMNS].reverse())).toHaveLength(DEFAULT_COLUMNS.length);
});

it.each([
  ['["a","b"]', ["a", "b"]],
  ["[1]", null],
  ["{", null],
  ['{"a":1}', null],
  [null, null],
])("reads kept columns %s", (text, found) => {
  expect(readKept(text)).toEqual(found);
});

describe("moved", () => {
  it("moves within the list", () => {
    expect(moved(["a", "b", "c"], "a", 1)).toEqual(["b", "a", "c"]);
    expect(moved(["a", "b", "c"], "c", -9)).toEqual(["c", "a", "b"]);
    expect(moved(["a", "b", "c"], "b", 9)).toEqual(["a", "c", "b"]);
  });
  it("leaves the list of a column that is not in it", () => {
    expect(moved(["a"], "z", 1)).toEqual(["a"]);
  });
});

it("adds a column at the end and takes it away again", () => {
  expect(toggled(["a"], "b")).toEqual(["a", "b"]);
  expect(toggled(["a", "b"], "a")).toEqual(["b"]);
});

it("asks only for what rows do not have", () => {
  expect(columns.askedColumns(["state", "config.lr", "scalar.a.TRAIN.min"])).toEqual(["config.lr", "scalar.a.TRAIN.min"]);
});

describe("shownColumn", () => {
  const known = new Map<string, RunColumn>([
    ["config.lr", { name: "config.lr", title: "lr", group: "config", kind: "number", runs: 3, min: 0, max: 1, different: 3 }],
  ]);
  it("takes title and kind from the server", () => {
    expect(shownColumn("config.lr", known)).toMatchObject({ title: "lr", kind: "number" });
  });
  it("still shows a column that no run has", () => {
    expect(shownColumn("config.gone", known)).toMatchObject({ title: "gone", kind: "text" });
  });
});

describe("fitting", () => {
  const all = DEFAULT_COLUMNS.map((name) => shownColumn(name, new Map()));
  it("keeps everything that fits", () => {
    expect(fitting(all, 2000)).toEqual(all);
  });
  it("drops the least important first and keeps the order", () => {
    const names = fitting(all, 620).map((column) => column.name);
    expect(names).toContain("loss");
    expect(names).not.toContain("tags");
    expect(names).toEqual(DEFAULT_COLUMNS.filter((name) => names.includes(name)));
  });
  it("keeps what somebody chose, however narrow", () => {
    const own = ["config.a", "steps", "config.b", "config.c", "tags", "config.d"].map((name) => shownColumn(name, new Map()));
    expect(fitting(own, 10).map((column) => column.name)).toEqual(["config.a", "config.b", "config.c", "config.d"]);
  });
  it("never goes below three", () => {
    expect(fitting(all, 10).map((column) => column.name)).toEqual(["state", "health", "loss"]);
  });
});

describe("nextSort", () => {
  it("sorts numbers largest first, losses and texts smallest first", () => {
    expect(nextSort("-created", { name: "steps", kind: "number" })).toBe("-steps");
    expect(nextSort("-created", { name: "best_loss", kind: "number" })).toBe("best_loss");
    expect(nextSort("-created", { name: "name", kind: "text" })).toBe("name");
  });
  it("turns round on the second press", () => {
    expect(nextSort("-steps", { name: "steps", kind: "number" })).toBe("steps");
    expect(nextSort("steps", { name: "steps", kind: "number" })).toBe("-steps");
  });
  it("is said to screen readers", () => {
    expect(sortOf("-steps", "steps")).toBe("descending");
    expect(sortOf("steps", "steps")).toBe("ascending");
    expect(sortOf("steps", "loss")).toBe("none");
  });
});

it.each([
  ["seconds", "number", 75, "1 min 15 s"],
  ["steps", "number", null, "–"],
  ["config.x", "flag", true, "yes"],
  ["config.x", "text", "", "–"],
  ["config.lr", "number", 0.001, "0.001"],
] as const)("writes %s of kind %s: %s as %s", (name, kind, value, text) => {
  expect(valueText(name, kind, value)).toBe(text);
});
