import { expect, it } from "vitest";
import type { RunDetail } from "../../../api/schema";
import { factsOf, warningsOf } from "./facts";

function detail(row: Partial<RunDetail["row"]> = {}, rest: Partial<RunDetail> = {}): RunDetail {
  return {
    row: { steps: 200, epochs: 4, seconds: 100, state: "finished", framework: "torch", loss: { name: "loss", last: 0.5, best: 0.25, values: [] }, attempts: 1, ...row },
    steps: { by_mode: { TRAIN: 200 }, thinned: 0 },
    identity: {},
    attempts: [],
    damage: [],
    overlay: "",
    stopped_by: "",
    failure: null,
    ...rest,
  } as unknown as RunDetail;
}
const values = (one: RunDetail) => Object.fromEntries(factsOf(one).map(({ title, value, more }) => [title, more ? `${value} (${more})` : value]));

it("says steps, epochs, time, speed and loss", () => {
  expect(values(detail())).toEqual({ Steps: "200", Epochs: "4", Took: "1 min 40 s", Speed: "2 steps/s", loss: "0.5 (best 0.25)", Framework: "torch" });
});
it("leaves out what is not known", () => {
  expect(Object.keys(values(detail({ epochs: null, seconds: null, loss: null, framework: "" })))).toEqual(["Steps"]);
});
it("says modes where there are several, the commit and the overlay", () => {
  const known = values(detail({ state: "running" }, { steps: { by_mode: { TRAIN: 150, EVAL: 50 } }, identity: { git: "0123456789abcdef" }, overlay: "fixes" } as unknown as Partial<RunDetail>));
  expect(known).toMatchObject({ Steps: "200 (150 train, 50 eval)", Git: "0123456789", Overlay: "fixes", "So far": "1 min 40 s" });
});
it("says that a loss is not finite", () => {
  expect(values(detail({ loss: { name: "loss", last: null, best: 0.25, values: [] } }))).toMatchObject({ loss: "not finite (best 0.25)" });
});
it("has nothing to warn of in a healthy run", () => {
  expect(warningsOf(detail())).toEqual([]);
});
it("warns of damage, thinning, resumption and a stop, in sentences", () => {
  const damage = Array.from({ length: 5 }, (_, i) => ({ path: `part-${i}`, step: null, reason: "cut short" }));
  const attempts = [{ attempt: 0, from_step: 0 }, { attempt: 1, from_step: 120 }];
  const found = warningsOf(detail({}, { damage, attempts, steps: { by_mode: {}, thinned: 12 }, stopped_by: "Stopped by the rule nan at step 7" } as unknown as Partial<RunDetail>));
  expect(found).toHaveLength(4);
  expect(found[0]).toContain("5 parts of this run cannot be read");
  expect(found[0]).toContain("and 2 more");
  expect(found[2]).toContain("from step 120");
  expect(found[3]).toBe("Stopped by the rule nan at step 7.");
});
