import { describe, expect, it } from "vitest";
import { wayBack, withSample } from "./back";

describe("wayBack", () => {
  it("is where one came from, also after other samples", () => {
    const plain = "/studio/runs/a/population";
    expect(wayBack("a", plain, undefined)).toBe(plain);
    expect(wayBack("a", plain, `http://host${plain}?where=loss+%3E+1`)).toBe(`${plain}?where=loss+%3E+1`);
    expect(wayBack("a", plain, "http://host/studio/runs/a/sample?sample=x")).toBe(`${plain}?where=loss+%3E+1`);
    expect(wayBack("b", "/studio/runs/b/population", `http://host${plain}?x=1`)).toBe("/studio/runs/b/population");
  });
});

describe("withSample", () => {
  it("rings one sample and keeps the rest", () => {
    expect(withSample("/p?where=a", "test/1")).toBe("/p?where=a&sample=test%2F1");
    expect(withSample("/p?sample=old", "new")).toBe("/p?sample=new");
  });
});
