import { expect, it, vi } from "vitest";
import type { RunAnnotations, RunRow } from "../../api/schema";

vi.stubGlobal("document", { baseURI: "http://localhost/" });
const { annotated } = await import("./annotating");

const row = { id: "a", tags: ["old"], note: "", baseline: false } as unknown as RunRow;
const answer = (status: number, body: unknown) => vi.stubGlobal("fetch", async () => new Response(JSON.stringify(body), { status }));

it("shows a change at once, and then what the server kept", async () => {
  const kept: RunAnnotations = { tags: ["new", "cleaned"], note: "", baseline: false };
  answer(200, { ok: true, data: kept });
  const shown: Partial<RunAnnotations>[] = [];
  expect(await annotated(row, { tags: ["new"] }, (values) => shown.push(values))).toBeNull();
  expect(shown).toEqual([{ tags: ["new"] }, kept]);
});
it("takes a change back that the server refused, and says why", async () => {
  answer(507, { ok: false, error: "The disk is full.", code: "full", hint: "Free some.", status: 507, request: "1" });
  const shown: Partial<RunAnnotations>[] = [];
  const error = await annotated(row, { note: "x", baseline: true }, (values) => shown.push(values));
  expect(error?.message).toBe("The disk is full.");
  expect(shown).toEqual([{ note: "x", baseline: true }, { tags: ["old"], note: "", baseline: false }]);
});
