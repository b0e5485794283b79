// A frozen copy: the page on file://, with a run's answers in files beside it instead of a studio. Whether this is one,
// what it holds, and how an answer is loaded. What is not asked exactly as it was frozen: frozen_rules.ts.

/** Whether this page is a frozen copy. Pages hide with it what needs the studio; so does the class `needs-studio`. */
export const frozen = import.meta.env.MODE === "frozen";

export interface FrozenIndex {
  run: string;
  name: string;
  /** When it was made, as a date. */
  made: string;
  version: string;
  command: string;
  /** The evaluation that is meant where a question names none. */
  evaluation: number | null;
  /** Which file holds the answer to a question; see `keyOf`. */
  answers: Record<string, number>;
  /** Samples whose picture lies in previews/, as the number of its place here. */
  pictures: string[];
  /** What was left out, in sentences. */
  left_out: string[];
}

export interface Held {
  status: number;
  kind: string;
  bytes: Uint8Array<ArrayBuffer>;
}

interface Globals {
  cutawayFrozenIndex?: FrozenIndex;
  cutawayFrozen?: (file: number, packed: string) => void;
}
const globals = globalThis as Globals;
const empty: FrozenIndex = { run: "", name: "", made: "", version: "", command: "", evaluation: null, answers: {}, pictures: [], left_out: [] };

/** What this copy holds. */
export const copy: FrozenIndex = (frozen && globals.cutawayFrozenIndex) || empty;

export type Pairs = readonly (readonly [string, string])[];

/** Asks the copy; null where it does not hold the answer. The rules are only in the script of a frozen copy. */
export let askCopy: (path: string, query: Pairs) => Promise<Held | null> = async () => null;
export function answerBy(rules: typeof askCopy): void {
  askCopy = rules;
}

/** A question as the copy knows it: nothing is encoded, and the order of the query does not matter. */
export function keyOf(path: string, query: Pairs): string {
  const plain = path.split("/").map(decoded).join("/");
  const sorted = [...query].sort(([a, x], [b, y]) => compared(a, b) || compared(x, y));
  return [plain, ...sorted.map(([name, value]) => `${name}=${value}`)].join("\n");
}

/** The bytes of a packed file: each answer by its key. */
export function unpacked(bytes: Uint8Array<ArrayBuffer>): Map<string, Held> {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const heads = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as [string[], number, string, number][];
  let at = 4 + length;
  return new Map(
    heads.flatMap(([keys, status, kind, size]) => {
      const held = { status, kind, bytes: bytes.slice(at, (at += size)) };
      return keys.map((key): [string, Held] => [key, held]);
    }),
  );
}

// The files that were looked at last: a long look at many tensors does not fill the memory.
const KEPT = 24;
const files = new Map<number, Promise<Map<string, Held>>>();
const waiting = new Map<number, (packed: string) => void>();

if (frozen) {
  globals.cutawayFrozen = (file, packed) => waiting.get(file)?.(packed);
  document.documentElement.dataset.frozen = "";
}

/** The answer to a question, where the copy holds it; null where not. */
export async function heldAnswer(key: string, index: FrozenIndex = copy): Promise<Held | null> {
  const file = Object.hasOwn(index.answers, key) ? index.answers[key] : undefined;
  if (file === undefined) return null;
  return (await fileOf(file)).get(key) ?? null;
}

function fileOf(file: number): Promise<Map<string, Held>> {
  const known = files.get(file) ?? load(file).then(inflated).then(unpacked);
  files.delete(file);
  files.set(file, known);
  known.catch(() => files.delete(file));
  for (const old of files.keys()) if (files.size > KEPT) files.delete(old);
  return known;
}

// A script is the one thing that a page on file:// may load from beside itself and read.
function load(file: number): Promise<string> {
  return new Promise((done, fail) => {
    const script = document.createElement("script");
    waiting.set(file, done);
    script.src = `./data/${file}.js`;
    script.onerror = () => fail(new Error(`data/${file}.js is missing in this copy.`));
    script.onload = () => {
      waiting.delete(file);
      script.remove();
      fail(new Error(`data/${file}.js is damaged.`));
    };
    document.head.append(script);
  });
}

async function inflated(packed: string): Promise<Uint8Array<ArrayBuffer>> {
  const text = atob(packed);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The address of a sample's picture in this copy; one that loads nothing, and says nothing, where it has none. */
export function pictureAddress(sample: string, index: FrozenIndex = copy): string {
  const at = placesOf(index).get(sample);
  return at === undefined ? NOTHING : `./previews/${at}.png`;
}

/** An address of nothing: a picture falls to its placeholder, and a link to it is hidden (app.css). */
export const NOTHING = "data:,";

const places = new WeakMap<FrozenIndex, Map<string, number>>();
function placesOf(index: FrozenIndex): Map<string, number> {
  const known = places.get(index) ?? new Map(index.pictures.map((sample, at) => [sample, at]));
  places.set(index, known);
  return known;
}

function compared(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
