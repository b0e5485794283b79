import { beforeEach, expect, it, vi } from "vitest";

vi.stubGlobal("document", { baseURI: "http://localhost/" });
const { beginSeries, takeSeries } = await import("./early");

const asked: string[] = [];
beforeEach(() => {
  asked.length = 0;
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    return new Response(JSON.stringify({ ok: true, data: [url] }));
  });
});
const signal = new AbortController().signal;

it("asks once for what was begun early, and anew the next time", async () => {
  beginSeries("a");
  await takeSeries("a", signal);
  expect(asked).toEqual(["/api/runs/a/scalars"]);
  await takeSeries("a", signal);
  expect(asked).toHaveLength(2);
});
it("gives the series of no other run", async () => {
  beginSeries("a");
  expect(await takeSeries("b", signal)).toEqual(["/api/runs/b/scalars"]);
});
it("says to whoever takes it what went wrong", async () => {
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ ok: false, error: "No run.", code: "run-not-found", hint: "", status: 404, request: "1" }), { status: 404 }));
  beginSeries("a");
  await expect(takeSeries("a", signal)).rejects.toThrow("No run.");
});
