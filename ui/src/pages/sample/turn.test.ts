import { describe, expect, it, vi } from "vitest";
import { Turn } from "./turn";

describe("a turn", () => {
  it("comes when the others are done, or after a moment", async () => {
    vi.useFakeTimers();
    const turn = new Turn();
    const seen: string[] = [];
    void turn.of("a").then(() => seen.push("a"));
    await Promise.resolve();
    expect(seen).toEqual([]);
    turn.done("a");
    await Promise.resolve();
    expect(seen).toEqual(["a"]);
    void turn.of("b").then(() => seen.push("b"));
    await vi.advanceTimersByTimeAsync(500);
    expect(seen).toEqual(["a", "b"]);
    vi.useRealTimers();
  });
  it("is over for whoever waits for an older sample", async () => {
    const turn = new Turn();
    const old = turn.of("a");
    void turn.of("b");
    await expect(old).resolves.toBeUndefined();
  });
});
