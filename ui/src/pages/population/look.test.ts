import { expect, it } from "vitest";
import { lookFrom, lookText } from "./look";

it("goes into the address and comes back", () => {
  expect(lookFrom(lookText({ x: 1.5, y: -2, scale: 40 }))).toEqual({ x: 1.5, y: -2, scale: 40 });
  expect(lookText(null)).toBeNull();
});
it("is everything where the address holds no place", () => {
  for (const text of [null, "", "1,2", "1,2,0", "a,b,c", "1,2,3,4"]) expect(lookFrom(text)).toBeNull();
});
