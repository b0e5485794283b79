import { describe, expect, test } from "vitest";
import { sameJob } from "./starting";

const running = { state: "running", kind: "analyze", what: "map", run: "r" } as const;
const wanted = { kind: "analyze", run: "r", what: "map" } as const;

describe("whether a job is the one that is meant", () => {
  test("the same analysis of the same run, while it runs", () => {
    expect(sameJob(running, wanted as never)).toBe(true);
    expect(sameJob({ ...running, what: "" }, wanted as never)).toBe(true);
  });
  test("not another analysis, another run, another kind, or one that ended", () => {
    expect(sameJob({ ...running, what: "clusters" }, wanted as never)).toBe(false);
    expect(sameJob({ ...running, run: "s" }, wanted as never)).toBe(false);
    expect(sameJob({ ...running, kind: "evaluate" }, wanted as never)).toBe(false);
    expect(sameJob({ ...running, state: "finished" }, wanted as never)).toBe(false);
  });
});
