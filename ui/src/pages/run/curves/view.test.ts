import { describe, expect, it } from "vitest";
import { queryText } from "../../../lib/address";
import { queryOf, viewOf, windowOf } from "./view";

const usual = { series: [], axis: "step", smooth: 0, log: false, from: null, to: null, group: "", search: "" };

describe("viewOf", () => {
  it("is as usual without a query", () => {
    expect(viewOf(new URLSearchParams())).toEqual(usual);
  });
  it("comes back from the address that it makes", () => {
    const view = { series: ["loss@TRAIN", "a b@EVAL"], axis: "wall" as const, smooth: 0.6, log: true, from: 10, to: 200, group: "loss", search: "acc" };
    expect(viewOf(new URLSearchParams(queryText(queryOf(view))))).toEqual(view);
  });
  it("takes nothing that makes no sense", () => {
    expect(viewOf(new URLSearchParams("x=moon&smooth=7&from=-3&to=many"))).toEqual({ ...usual, smooth: 0.99 });
    expect(viewOf(new URLSearchParams("smooth=NaN"))).toEqual(usual);
  });
  it("turns a window that ends before it begins", () => {
    expect(viewOf(new URLSearchParams("from=9&to=3"))).toMatchObject({ from: 3, to: 9 });
  });
});

it("leaves what is as usual out of the address", () => {
  expect(queryText(queryOf({ ...viewOf(new URLSearchParams()) }))).toBe("");
});

describe("windowOf", () => {
  it("takes whole steps around what was dragged over", () => {
    expect(windowOf(10.4, 20.2, 100)).toEqual({ from: 10, to: 21 });
  });
  it("follows the training where it reaches the last step", () => {
    expect(windowOf(50, 100.5, 100)).toEqual({ from: 50, to: null });
  });
  it("says nothing of a beginning that is the run's", () => {
    expect(windowOf(-3, 20, 100)).toEqual({ from: null, to: 20 });
  });
});
