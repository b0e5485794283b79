import { afterEach, expect, it, vi } from "vitest";

vi.stubGlobal("document", { baseURI: "http://localhost/" });
const { picturesOf } = await import("./pictures");
const signal = new AbortController().signal;

afterEach(() => {
  vi.unstubAllGlobals();
});

it("asks for all pictures at once", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    return new Response(JSON.stringify({ ok: true, data: { "a/1": "AAAA" } }));
  });
  const found = await picturesOf("x", ["a/1", "a/2"], signal);
  expect(asked).toEqual(["/api/runs/x/previews?sample=a%2F1&sample=a%2F2"]);
  expect([...found]).toEqual([["a/1", "data:image/png;base64,AAAA"]]);
});

it("asks nothing where no sample has a picture", async () => {
  expect((await picturesOf("x", [], signal)).size).toBe(0);
});

it("leaves each to be asked for by itself where all at once cannot be had", async () => {
  vi.stubGlobal("fetch", async () => new Response("no", { status: 500 }));
  expect((await picturesOf("x", ["a/1"], signal)).size).toBe(0);
});
