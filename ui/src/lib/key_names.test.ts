import { expect, it } from "vitest";
import { keyName, shownKeys } from "./key_names";

const plain = { ctrlKey: false, metaKey: false, altKey: false };

it("calls Ctrl and Command by one name", () => {
  expect(keyName({ ...plain, key: "K", ctrlKey: true })).toBe("mod+k");
  expect(keyName({ ...plain, key: "k", metaKey: true })).toBe("mod+k");
});
it("keeps the names of keys that write nothing", () => {
  expect(keyName({ ...plain, key: "Escape" })).toBe("Escape");
});
it("writes a shortcut as people read it", () => {
  expect(shownKeys("mod+k", true)).toEqual(["⌘", "K"]);
  expect(shownKeys("g r", false)).toEqual(["G", "R"]);
});
