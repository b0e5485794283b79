import { beforeEach, describe, expect, it, vi } from "vitest";
import type { RunRow } from "../../api/schema";
import type { AskRuns, RunRows as Rows } from "./rows.svelte";

vi.stubGlobal("document", { baseURI: "http://localhost/" });
const { RunRows } = await import("./rows.svelte");

/** 250 runs; a search for `few` finds three. Answers wait until they are let go, where `hold` says so. */
class Server {
  asked: string[] = [];
  fails = false;
  hold = false;
  waiting: (() => void)[] = [];

  ask: AskRuns = async ({ search, offset, limit }) => {
    this.asked.push(`${search} ${offset}`);
    if (this.hold) await new Promise<void>((go) => this.waiting.push(go));
    if (this.fails) throw new Error("gone");
    const total = search === "few" ? 3 : 250;
    const count = Math.max(0, Math.min(Number(limit), total - Number(offset)));
    const data = Array.from({ length: count }, (_, i) => ({ id: `${search}${Number(offset) + i}`, baseline: i === 1 && offset === 0 }) as RunRow);
    return { data, total, offset: Number(offset), limit: Number(limit) };
  };
}

let server: Server;
let rows: Rows;
beforeEach(() => {
  server = new Server();
  rows = new RunRows(server.ask);
});

describe("pages of rows", () => {
  it("are asked for as they come into sight, each once", async () => {
    rows.ask({ search: "a" });
    await rows.want(0, 20);
    await rows.want(90, 130);
    await rows.want(95, 110);
    expect(server.asked).toEqual(["a 0", "a 100"]);
    expect(rows.row(120)?.id).toBe("a120");
    expect(rows.row(220)).toBeUndefined();
    expect(rows.total).toBe(250);
  });
  it("stay shown while they are asked for again", async () => {
    rows.ask({ search: "a" });
    await rows.want(0, 20);
    rows.refresh();
    expect(rows.row(3)?.id).toBe("a3");
    await rows.want(0, 20);
    expect(server.asked).toEqual(["a 0", "a 0"]);
  });
  it("stay until another question is answered, and are said to be of an earlier one", async () => {
    rows.ask({ search: "a" });
    await rows.want(0, 130);
    expect(rows.ask({ search: "few" })).toBe(true);
    expect(rows.stale).toBe(true);
    await rows.want(0, 20);
    expect([rows.stale, rows.total, rows.row(0)?.id, rows.row(120)]).toEqual([false, 3, "few0", undefined]);
  });
  it("are not asked for anew by the same question", () => {
    rows.ask({ search: "a" });
    expect(rows.ask({ search: "a" })).toBe(false);
  });
});

describe("answers that do not come as asked", () => {
  it("are thrown away where they answer an earlier question", async () => {
    server.hold = true;
    rows.ask({ search: "a" });
    const first = rows.want(0, 20);
    rows.ask({ search: "few" });
    const second = rows.want(0, 20);
    server.waiting[1]!();
    await second;
    server.waiting[0]!();
    await first;
    expect(rows.row(0)?.id).toBe("few0");
  });
  it("leave no rows of another question under the error", async () => {
    rows.ask({ search: "a" });
    await rows.want(0, 20);
    server.fails = true;
    rows.ask({ search: "bad" });
    await rows.want(0, 20);
    expect(rows.error?.code).toBe("no-answer");
    expect([rows.total, rows.row(0)]).toEqual([null, undefined]);
  });
  it("leave the rows of the same question, with the error", async () => {
    rows.ask({ search: "a" });
    await rows.want(0, 20);
    server.fails = true;
    rows.refresh();
    await rows.want(0, 20);
    expect([rows.row(0)?.id, rows.error !== undefined]).toEqual(["a0", true]);
    server.fails = false;
    rows.refresh();
    await rows.want(0, 20);
    expect(rows.error).toBeUndefined();
  });
});

it("has one baseline", async () => {
  rows.ask({ search: "a" });
  await rows.want(0, 20);
  rows.patch("a7", { baseline: true });
  expect([rows.row(7)?.baseline, rows.row(1)?.baseline]).toEqual([true, false]);
});
it("knows where a run is", async () => {
  rows.ask({ search: "a" });
  await rows.want(0, 130);
  expect([rows.indexOf("a117"), rows.indexOf("z")]).toEqual([117, null]);
  expect(rows.ids().size).toBe(200);
});
