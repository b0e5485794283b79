import { describe, expect, test } from "vitest";
import { frozen, keyOf, NOTHING, pictureAddress, unpacked, type FrozenIndex } from "./frozen";

const index: FrozenIndex = { run: "r", name: "r", made: "", version: "", command: "", evaluation: null, answers: {}, pictures: ["test/1", "</script>"], left_out: [] };

test("the page of the studio is no frozen copy", () => {
  expect(frozen).toBe(false);
});

describe("a question as a copy knows it", () => {
  test("does not depend on the order of its query", () => {
    const query: [string, string][] = [["name", "w"], ["from", "3"], ["from", "10"], ["ü", "&=?"]];
    expect(keyOf("runs/a/x", query)).toBe("runs/a/x\nfrom=10\nfrom=3\nname=w\nü=&=?");
    expect(keyOf("runs/a/x", [...query].reverse())).toBe(keyOf("runs/a/x", query));
  });

  test("has its path as it was before it was made an address", () => {
    expect(keyOf("runs/a/findings/x%20y%2Fz", [])).toBe("runs/a/findings/x y/z");
    expect(keyOf("runs/a/%", [])).toBe("runs/a/%");
  });
});

test("a packed file is taken apart, an answer to several questions is one", () => {
  const contents = [new TextEncoder().encode("first"), new Uint8Array([1, 2, 3])];
  const heads = new TextEncoder().encode(JSON.stringify([[["a", "b"], 200, "json", 5], [["c"], 404, "bytes", 3]]));
  const bytes = new Uint8Array(4 + heads.length + 8);
  new DataView(bytes.buffer).setUint32(0, heads.length, true);
  bytes.set(heads, 4);
  bytes.set(contents[0]!, 4 + heads.length);
  bytes.set(contents[1]!, 4 + heads.length + 5);
  const found = unpacked(bytes);
  expect([...found.keys()]).toEqual(["a", "b", "c"]);
  expect(found.get("a")).toBe(found.get("b"));
  expect(new TextDecoder().decode(found.get("a")!.bytes)).toBe("first");
  expect(found.get("c")).toEqual({ status: 404, kind: "bytes", bytes: contents[1] });
});

test("a picture is a file, and where there is none an address of nothing", () => {
  expect(pictureAddress("test/1", index)).toBe("./previews/0.png");
  expect(pictureAddress("</script>", index)).toBe("./previews/1.png");
  expect(pictureAddress("test/2", index)).toBe(NOTHING);
});
