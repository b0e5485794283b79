// The one place that talks to the server. Answers come out of their envelope; what goes wrong is an ApiError.

import { pairsOf, queryText, type Query } from "../lib/address";
import { askCopy, copy, frozen, NOTHING, pictureAddress } from "./frozen";
import type { ErrorAnswer } from "./schema";

const api = new URL("api/", document.baseURI).pathname;

/** What went wrong: what happened, what to do next, and the id under which the server's log has it. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly hint: string,
    readonly status: number,
    readonly code: string,
    readonly request: string,
  ) {
    super(message);
  }

  static from(cause: unknown): ApiError {
    if (cause instanceof ApiError) return cause;
    return new ApiError(
      "The studio is not responding.",
      "Check that `cutaway studio` is still running, then try again.",
      0,
      "no-answer",
      "",
    );
  }
}

/** Called when the server wants a token; the page then asks for it. */
export let onUnauthorized: () => void = () => {};
export function whenUnauthorized(act: () => void): void {
  onUnauthorized = act;
}

export interface PageOf<T> {
  data: T[];
  total: number;
  offset: number;
  limit: number;
}

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const answer = await ask(path, query, { signal });
  return ((await answer.json()) as { data: T }).data;
}

export async function getPage<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<PageOf<T>> {
  const answer = await ask(path, query, { signal });
  return (await answer.json()) as PageOf<T>;
}

export async function getBytes(path: string, query: Query = {}, signal?: AbortSignal): Promise<ArrayBuffer> {
  return (await ask(path, query, { signal })).arrayBuffer();
}

export async function send<T>(method: "POST" | "PATCH" | "DELETE", path: string, body: unknown = undefined, query: Query = {}): Promise<T> {
  // The studio takes changes that say that they are JSON only, also where there is nothing to say: a form cannot.
  const headers = { "content-type": "application/json" };
  return read<T>(await ask(path, query, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) }));
}

/** Sends the bytes of a file as they are. */
export async function sendFile<T>(path: string, file: Blob, query: Query = {}): Promise<T> {
  return read<T>(await ask(path, query, { method: "POST", headers: { "content-type": "application/octet-stream" }, body: file }));
}

async function read<T>(answer: Response): Promise<T> {
  return (answer.status === 204 ? undefined : ((await answer.json()) as { data: T }).data) as T;
}

/** The address of something that the browser fetches itself: a picture, the stream of events, a download. */
export function apiAddress(path: string, query: Query = {}): string {
  if (frozen) return path.endsWith("/preview") ? pictureAddress(String(query.sample)) : NOTHING;
  return api + path + queryText(query);
}

/** The path of something of a run. */
export function ofRun(run: string, rest = ""): string {
  return `runs/${encodeURIComponent(run)}${rest ? `/${rest}` : ""}`;
}

const ahead = new Map<string, Promise<Response>>();

/** Asks before anybody does; the answer is for the first who asks the same. */
export function askAhead(path: string, query: Query): void {
  if (frozen) return;
  const address = apiAddress(path, query);
  const answer = fetch(address, { credentials: "same-origin" });
  // Whoever takes it sees what went wrong; where nobody does, nothing was lost.
  answer.catch(() => {});
  ahead.set(address, answer);
}

async function ask(path: string, query: Query, init: RequestInit): Promise<Response> {
  if (frozen) return taken(await answerOfCopy(path, query, init), path);
  const address = apiAddress(path, query);
  const early = init.method ? undefined : ahead.get(address);
  ahead.delete(address);
  let answer: Response;
  try {
    answer = await (early ?? fetch(address, { credentials: "same-origin", ...init }));
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    throw ApiError.from(cause);
  }
  return taken(answer, path);
}

/** What a frozen copy answers in the studio's place. */
async function answerOfCopy(path: string, query: Query, init: RequestInit): Promise<Response> {
  const held = init.method ? null : await askCopy(path, pairsOf(query));
  if (init.signal?.aborted) throw init.signal.reason;
  if (held) return new Response(held.bytes, { status: held.status });
  throw new ApiError("This copy does not include that.", `Open the run in the studio: \`${copy.command}\``, 404, "not-frozen", "");
}

async function taken(answer: Response, path: string): Promise<Response> {
  if (answer.ok) return answer;
  const error = await readError(answer);
  if (error.status === 401 && path !== "login") onUnauthorized();
  throw error;
}

async function readError(answer: Response): Promise<ApiError> {
  try {
    const said = (await answer.json()) as ErrorAnswer;
    return new ApiError(said.error, said.hint, said.status, said.code, said.request);
  } catch {
    // Not from us: a proxy on the way.
    const message = `Something between this page and the studio answered ${answer.status}.`;
    return new ApiError(message, "Check the proxy or the port forwarding, then try again.", answer.status, "not-ours", "");
  }
}
