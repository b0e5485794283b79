import { describe, expect, it } from "vitest";
import { endsOf, findingsIn, visitsOf } from "./visits";

const visits = visitsOf({ steps: [9, 2], epochs: [1, null], losses: [0.5, null], mode: ["train", "train"] });

describe("visits", () => {
  it("are in the order of steps, also where a loss is not finite", () => {
    expect(visits).toEqual([{ step: 2, epoch: null, loss: null, mode: "train" }, { step: 9, epoch: 1, loss: 0.5, mode: "train" }]);
  });
  it("reach down to 0", () => expect(endsOf(visits)).toEqual({ steps: { low: 2, high: 9 }, losses: { low: 0, high: 0.55 } }));
});

describe("findings", () => {
  it("are those between the first and last visit that were not replaced", () => {
    const findings = [{ step: 5, replaced: false }, { step: 5, replaced: true }, { step: 99, replaced: false }, { step: null, replaced: false }];
    expect(findingsIn(findings, { low: 2, high: 9 })).toHaveLength(1);
  });
});
