import { describe, expect, it } from "vitest";
import { heatChoice, methodsOf, methodWords, offered, toggled } from "./heat_choice";

describe("heatChoice", () => {
  it("is what the address says", () => {
    expect(heatChoice(new URLSearchParams("target=4&target=9&target=4&method=occlusion&loss=1"))).toEqual({ method: "occlusion", targets: ["4", "9"], layer: "", loss: true });
    expect(heatChoice(new URLSearchParams("target=1&target=2&target=3&target=4&target=5")).targets).toHaveLength(4);
  });
});

describe("classes", () => {
  it("come and go, at most four of them", () => {
    expect(toggled(["4"], "9")).toEqual(["4", "9"]);
    expect(toggled(["4", "9"], "4")).toEqual(["9"]);
    expect(toggled(["1", "2", "3", "4"], "5")).toEqual(["2", "3", "4", "5"]);
  });
  it("are offered with the prediction first, and what is shown always among them", () => {
    const classes = [{ name: "1", probability: 0.1, distance: null }, { name: "7", probability: 0.3, distance: null }];
    expect(offered(["x"], "9", "4", classes, 3)).toEqual(["9", "4", "7", "x"]);
    expect(offered([], null, null, [])).toEqual([]);
  });
});

describe("methods", () => {
  it("that apply come first", () => {
    expect(methodsOf({ methods: { grad_cam: "no layer has places", occlusion: "" } }).map((one) => one.name)).toEqual(["occlusion", "grad_cam"]);
    expect(methodWords("grad_cam")).toBe("grad cam");
  });
});
