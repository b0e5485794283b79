import { describe, expect, it } from "vitest";
import { pathOf, queryText, routeOf, type Route } from "./address";

describe("routeOf", () => {
  const routes: Route[] = [
    { page: "runs" },
    { page: "compare" },
    { page: "run", run: "a b/ü%" },
    { page: "tensors", run: "x" },
    { page: "steering", run: "x" },
    { page: "finding", run: "x", finding: "f/1" },
  ];
  it.each(routes)("reads back the path of $page", (route) => {
    expect(routeOf(pathOf(route))).toEqual(route);
  });
  it("calls the empty path the runs", () => {
    expect(routeOf("/")).toEqual({ page: "runs" });
  });
  it.each(["nothing", "runs/x/nothing", "runs/x/tensors/more", "compare/more"])("does not know %s", (path) => {
    expect(routeOf(path).page).toBe("missing");
  });
  it("takes a path with a broken escape as it is", () => {
    expect(routeOf("runs/%zz")).toEqual({ page: "run", run: "%zz" });
  });
});

describe("queryText", () => {
  it("leaves out what is empty and repeats lists", () => {
    expect(queryText({ a: 1, b: "", c: null, d: ["x", "y z"], e: false, f: true })).toBe("?a=1&d=x&d=y+z&f=true");
  });
  it("is nothing without values", () => {
    expect(queryText({ a: undefined })).toBe("");
  });
});
