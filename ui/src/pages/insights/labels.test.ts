import { describe, expect, test } from "vitest";
import type { SuggestionRow } from "../../api/schema";
import { changedBy, decidedFilter, decisionWords, overlayCommands, scoreText, withMine } from "./labels";

const row: SuggestionRow = { sample: "training/4", row: 4, subset: "training", label: "4", suggested: "9", score: 0.973, reason: "", preview: true, decision: null, decided_label: null };

describe("what was decided", () => {
  test("a decision on this page goes before what the server said earlier", () => {
    expect(withMine(row, new Map())).toBe(row);
    expect(withMine(row, new Map([["training/4", { decision: "accepted", label: "7" } as const]]))).toMatchObject({ decision: "accepted", decided_label: "7" });
    expect(withMine(row, new Map([["training/4", { decision: "rejected", label: "4" } as const]]))).toMatchObject({ decision: "rejected", decided_label: null });
    expect(withMine({ ...row, decision: "accepted", decided_label: "9" }, new Map([["training/4", { decision: "undone", label: null } as const]]))).toMatchObject({ decision: null, decided_label: null });
  });
  test("in words", () => {
    expect(decisionWords(row)).toBe("open");
    expect(decisionWords({ ...row, decision: "accepted", decided_label: "7" })).toBe("corrected to 7");
    expect(decisionWords({ ...row, decision: "accepted", decided_label: null })).toBe("corrected to 9");
    expect(decisionWords({ ...row, decision: "rejected" })).toBe("4 kept");
  });
  test("counts go up by one, stay, or go down by one", () => {
    expect(changedBy(null, "accepted")).toBe(1);
    expect(changedBy("rejected", "accepted")).toBe(0);
    expect(changedBy("accepted", "undone")).toBe(-1);
    expect(changedBy(null, "undone")).toBe(0);
  });
  test("the address says which are shown; nonsense shows all", () => {
    expect(["open", "decided", "all", "x", null].map(decidedFilter)).toEqual(["open", "decided", "all", "all", "all"]);
  });
});

test("scores are percent with one digit", () => {
  expect(scoreText(0.9731)).toBe("97.3 %");
  expect(scoreText(1)).toBe("100 %");
  expect(scoreText(null)).toBe("–");
});

test("commands quote what a shell would take apart", () => {
  const [train, list] = overlayCommands("/data/my runs/a", "studio");
  expect(train!.command).toBe("CUTAWAY_OVERLAY='/data/my runs/a/overlays/studio.parquet' python train.py");
  expect(list!.command).toBe("cutaway fix '/data/my runs/a' --list");
});
