import { dictionary, float32, float64, tableFromArrays, tableToIPC, uint32, utf8 } from "@uwdata/flechette";
import { describe, expect, it, vi } from "vitest";

// The client looks where the page is when it is loaded.
vi.stubGlobal("document", { baseURI: "http://studio/" });
const { columnsOf } = await import("./arrow");

const table = tableFromArrays(
  { row: [2, 0, 1], x: [0.5, null, 1.5], loss: [0.1, 0.2, 0.3], label: ["cat", null, "dog"] },
  { types: { row: uint32(), x: float32(), loss: float64(), label: dictionary(utf8()) } },
);
const bytes = tableToIPC(table, { format: "stream" })!;
const columns = columnsOf(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer);

describe("columns of an answer as typed arrays", () => {
  it("has numbers as narrow as they were sent, and NaN for what is missing", () => {
    expect(columns.floats("x")).toEqual(Float32Array.of(0.5, NaN, 1.5));
    expect(columns.floats("loss")).toEqual(Float64Array.of(0.1, 0.2, 0.3));
    expect(columns.wholes("row")).toEqual(Uint32Array.of(2, 0, 1));
  });

  it("has a dictionary as codes, without a text for each row", () => {
    const { codes, names } = columns.codes("label");
    expect(codes).toEqual(Int32Array.of(0, -1, 1));
    expect(names).toEqual(["cat", "dog"]);
    expect(() => columns.codes("x")).toThrow("no dictionary");
  });
});
