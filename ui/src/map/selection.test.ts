import { describe, expect, it } from "vitest";
import { queryText } from "../lib/address";
import { columnOf, isNothing, lassoFrom, lassoText, NO_HISTORY, NOTHING, queryOf, redone, remembered, selectionFrom, toggledValue, undone, valuesChosen, withCondition, withConditions, without } from "./selection";

const known = ["label", "prediction", "loss"];

describe("a selection", () => {
  it("goes into the address and comes back", () => {
    const selection = { where: ["label = 4", 'name in "a,b",c'], lasso: lassoFrom("0,0 1,0.5 0.25,1"), steps: { from: 60, to: 61 }, kept: "mine" };
    expect(selectionFrom(new URLSearchParams(queryText(queryOf(selection))))).toEqual(selection);
    expect(queryText(queryOf(NOTHING))).toBe("");
    expect(isNothing(selectionFrom(new URLSearchParams()))).toBe(true);
  });

  it("takes one end of a window for both, and what is no number for nothing", () => {
    expect(selectionFrom(new URLSearchParams("from=60")).steps).toEqual({ from: 60, to: 60 });
    expect(selectionFrom(new URLSearchParams("from=-1&to=x")).steps).toBeNull();
    expect(selectionFrom(new URLSearchParams("from=9&to=3")).steps).toEqual({ from: 9, to: 9 });
  });

  it("has lassos as fine as anybody draws", () => {
    expect(lassoText([[0.123456, 0], [10.98765, 0], [5, 5]])).toBe("0.12,0 10.99,0 5,5");
    expect(lassoText([[1e-6, 0], [3e-6, 1e-9], [0, 2e-6]])).toBe("0.000001,0 0.000003,1e-9 0,0.000002");
    expect(lassoText([[0, 0], [1, 1]])).toBe("0,0 1,1");
    expect(lassoFrom("1,2")).toEqual([]);
    expect(lassoFrom("1,2 3,4 5,x")).toEqual([]);
  });

  it("replaces what was said about a column", () => {
    const once = withConditions({ ...NOTHING, where: ["label = 4", "loss > 1"] }, { label: "label in 4,9", prediction: "prediction = 9" }, known);
    expect(once.where).toEqual(["loss > 1", "label in 4,9", "prediction = 9"]);
    expect(withConditions(once, { label: null }, known).where).toEqual(["loss > 1", "prediction = 9"]);
    expect(valuesChosen(once, "label", known)).toEqual(["4", "9"]);
    expect(valuesChosen(once, "loss", known)).toEqual([]);
    expect(columnOf("nonsense", known)).toBe("nonsense");
  });

  it("has a condition once", () => {
    const once = withCondition(withCondition(NOTHING, "loss > 1"), "loss > 1");
    expect(once.where).toEqual(["loss > 1"]);
    expect(isNothing(without(once, "loss > 1"))).toBe(true);
    expect(toggledValue(["a"], "b")).toEqual(["a", "b"]);
    expect(toggledValue(["a", "b"], "a")).toEqual(["b"]);
  });

  it("can be taken back, and done again until something else is done", () => {
    const one = withCondition(NOTHING, "loss > 1");
    const two = withCondition(one, "label = 4");
    const history = remembered(remembered(NO_HISTORY, NOTHING), one);
    const back = undone(history, two)!;
    expect(back.selection).toEqual(one);
    expect(undone(back.history, back.selection)!.selection).toEqual(NOTHING);
    expect(redone(back.history, back.selection)!.selection).toEqual(two);
    expect(redone(remembered(back.history, one), NOTHING)).toBeNull();
    expect(undone(NO_HISTORY, one)).toBeNull();
  });
});
