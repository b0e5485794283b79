import { expect, it } from "vitest";
import { cutMiddle } from "./cut_middle";

it("keeps both ends of a name, where names differ", () => {
  expect(cutMiddle("encoder.layers.11.weight", 12)).toBe("enco….weight");
  expect(cutMiddle("encoder.layers.11.weight", 12)).toHaveLength(12);
  expect(cutMiddle("short", 12)).toBe("short");
});
it("keeps letters of two halves whole", () => {
  expect(cutMiddle("😀😁😂🤣😃😄", 5)).toBe("😀…🤣😃😄");
  expect(cutMiddle("😀😁😂", 5)).toBe("😀😁😂");
});
