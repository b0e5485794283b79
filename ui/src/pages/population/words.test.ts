import { describe, expect, it } from "vitest";
import type { PopulationColumn } from "../../api/schema";
import { againstOrder, clusterName, defaultAgainst, defaultBars, defaultColour, defaultTable, evaluationText, grouped, missingText, shortName, valueText } from "./words";

function column(name: string, kind: PopulationColumn["kind"] = "number", group: PopulationColumn["group"] = "metadata", strength: number | null = null): PopulationColumn {
  return { name, kind, group, values: 5, missing: 0, min: 0, max: 1, strength };
}

const columns = [
  column("sample", "text", "sample"),
  column("label", "category", "answer"),
  column("prediction", "category", "answer"),
  column("loss", "number", "score"),
  column("metadata.slant", "number", "metadata", 0.1),
  column("metadata.width", "number", "metadata", 0.4),
  column("metadata.note", "text"),
];

describe("columns", () => {
  it("are listed by group without ids", () => {
    expect(grouped(columns, () => true).map((one) => one.title)).toEqual(["Answer", "Scores", "Metadata"]);
    expect(shortName("metadata.x.y")).toBe("x.y");
    expect(shortName("loss")).toBe("loss");
  });

  it("are chosen by what says most", () => {
    expect(defaultColour(columns)).toBe("label");
    expect(defaultColour(columns.filter((one) => one.name !== "label"))).toBe("loss");
    expect(defaultColour([])).toBe("");
    expect(defaultBars(columns)).toEqual(["loss", "metadata.width", "metadata.slant"]);
    expect(againstOrder(columns).map((one) => one.name)[0]).toBe("metadata.width");
    expect(defaultAgainst([...columns, column("metric.accuracy", "number", "metric", 0.9)])).toBe("metadata.width");
    expect(defaultAgainst([column("metric.accuracy", "number", "metric", 0.9)])).toBe("metric.accuracy");
    expect(defaultAgainst([])).toBe("");
    expect(defaultTable(columns)).toEqual(["label", "prediction", "loss", "metadata.width"]);
  });
});

it("says what a point has, and that it has nothing", () => {
  expect(valueText({ kind: "yes-or-no", name: "c", codes: Int32Array.of(0, -1), names: ["true"] }, 0)).toBe("yes");
  expect(valueText({ kind: "yes-or-no", name: "c", codes: Int32Array.of(0, -1), names: ["true"] }, 1)).toBe("–");
  expect(valueText({ kind: "number", name: "c", values: Float32Array.of(0.5, NaN) }, 0)).toBe("0.5");
  expect(valueText({ kind: "number", name: "c", values: Float32Array.of(0.5, NaN) }, 1)).toBe("–");
});

it("tells an evaluation in a line", () => {
  const one = { number: 1, created: 0, finished: false, model: "m", samples: 1, subsets: {}, spaces: [], scores: [], judged: "validation", accuracy: 0.5, loss: null, has_map: true };
  expect(evaluationText(one)).toContain("accuracy 50 % on validation · not finished");
});

it("says how many named samples are not there", () => {
  expect(missingText(64, 64, [])).toBe("");
  expect(missingText(64, 63, [])).toBe("1 sample of 64 is not in this evaluation.");
  expect(missingText(3, 0, ["Note."])).toBe("Note. 3 samples of 3 are not in this evaluation.");
});

it("calls a cluster by what distinguishes it first", () => {
  expect(clusterName("189 samples, 92 % of them 5; error 9.0 %", 3)).toBe("5 (92 %)");
  expect(clusterName("12 samples, all of them 6; x", 3)).toBe("6");
  expect(clusterName("", 3)).toBe("cluster 3");
  expect(clusterName("x".repeat(200), 3)).toHaveLength(31);
});
