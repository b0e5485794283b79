import { describe, expect, it } from "vitest";
import { drop, prepare, taken } from "./ahead";

describe("what is asked ahead", () => {
  it("is given once", async () => {
    let asked = 0;
    const ask = (): Promise<number> => Promise.resolve((asked += 1));
    prepare("a", ask);
    prepare("a", ask);
    expect(await taken("a", ask)).toBe(1);
    expect(await taken("a", ask)).toBe(2);
  });
  it("is kept for a few only", async () => {
    for (const key of ["a", "b", "c", "d", "e"]) prepare(key, () => Promise.resolve("early"));
    expect(await taken("a", () => Promise.resolve("late"))).toBe("late");
    expect(await taken("e", () => Promise.resolve("late"))).toBe("early");
    drop();
  });
  it("is not for another sample, nor after a change", async () => {
    const ask = (): Promise<string> => Promise.resolve("new");
    prepare("a", () => Promise.resolve("old"));
    expect(await taken("b", ask)).toBe("new");
    drop();
    expect(await taken("a", ask)).toBe("new");
  });
});
