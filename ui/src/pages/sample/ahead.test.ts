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
  it("is not for another sample, nor after a change", async () => {
    const ask = (): Promise<string> => Promise.resolve("new");
    prepare("a", () => Promise.resolve("old"));
    expect(await taken("b", ask)).toBe("new");
    drop();
    expect(await taken("a", ask)).toBe("new");
  });
});
