import { describe, expect, it } from "vitest";
import type { RequestRow } from "../../../api/schema";
import { aboveZero, actionText, commandOf, isThere, newId, waiting, whyNot } from "./requests";

describe("who can be asked", () => {
  it.each(["starting", "running", "paused"] as const)("is a training that is %s", (state) => {
    expect(isThere(state)).toBe(true);
  });
  it.each(["finished", "failed", "ended", "lost", "crashed", "unknown"] as const)("is not one that is %s, and says why", (state) => {
    expect(isThere(state)).toBe(false);
    expect(whyNot(state)).toMatch(/^[A-Z].*\.$/);
  });
});

it("writes a request as the command that asks the same", () => {
  expect(commandOf("runs/mnist", { action: "stop", arguments: {}, why: "the loss is NaN" })).toBe("cutaway control runs/mnist stop --why 'the loss is NaN'");
  expect(commandOf("mnist", { action: "set", arguments: { lr_factor: 0.5 }, why: "" })).toBe("cutaway control mnist set lr_factor=0.5");
});
it("says what was asked in words", () => {
  expect(actionText("set", { lr: 0.001 })).toBe("learning rate 0.001");
  expect(actionText("set", { lr_factor: 0.5 })).toBe("learning rate × 0.5");
  expect(actionText("pause", {})).toBe("pause");
  expect(actionText("set", { lr: "odd" })).toBe("set");
});
it.each([
  ["0.001", 0.001],
  [" 1e-4 ", 1e-4],
  ["0,5", 0.5],
  ["0", null],
  ["-1", null],
  ["", null],
  ["fast", null],
  ["Infinity", null],
])("reads %j as %s", (text, value) => {
  expect(aboveZero(text)).toBe(value);
});
it("makes ids that the studio takes", () => {
  expect(newId((bytes) => bytes.map((_, i) => i))).toBe("000102030405060708090a0b0c0d0e0f");
});
it("knows what still waits", () => {
  const rows = [{ id: "a", state: "waiting" }, { id: "b", state: "done" }] as RequestRow[];
  expect(waiting(rows).map(({ id }) => id)).toEqual(["a"]);
});
