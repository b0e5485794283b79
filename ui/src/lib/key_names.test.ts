import { expect, it } from "vitest";
import { isEditing, keyName, shownKeys } from "./key_names";

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
it("tells doing again from taking back, and leaves both to a field that is typed in", () => {
  expect(keyName({ ...plain, key: "Z", ctrlKey: true, shiftKey: true })).toBe("mod+shift+z");
  expect(keyName({ ...plain, key: "z", ctrlKey: true, shiftKey: false })).toBe("mod+z");
  expect([isEditing("mod+z"), isEditing("mod+shift+z"), isEditing("mod+k"), isEditing("z")]).toEqual([true, true, false, false]);
});
