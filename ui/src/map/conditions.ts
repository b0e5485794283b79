// Conditions on samples as text: `label = 4`, `loss > 1.5`, `metadata.x between 1 2`, `label in 4,9`, `cluster 3`. The same
// language as the library's; `conditions.cases.json` holds both to the same answers.

import type { CodedColumn, Column } from "./columns";
import { didYouMean } from "./conditions_nearest";

export type Operator = "between" | "not-between" | "equal" | "not-equal" | "in" | "not-in" | "greater-than" | "less-than" | "cluster" | "not-cluster";

export interface Condition {
  column: string;
  operator: Operator;
  values: readonly string[];
}

/** Why a text is no condition, or cannot be compared with its column. */
export class ConditionError extends Error {}

const SIGNS: Record<string, Operator> = {
  "not between": "not-between",
  "not-between": "not-between",
  "greater-than": "greater-than",
  "less-than": "less-than",
  "not-equal": "not-equal",
  between: "between",
  "not in": "not-in",
  "not-in": "not-in",
  equal: "equal",
  in: "in",
  "!=": "not-equal",
  "==": "equal",
  "=": "equal",
  ">": "greater-than",
  "<": "less-than",
};
const FOREIGN = [">=", "<=", "<>", "=~", "!~"];
const WORDS = Object.keys(SIGNS).filter((one) => /^[a-z]/.test(one)).map((one) => one.replace(" ", "\\s+")).join("|");
const MARKS = [...FOREIGN, ...Object.keys(SIGNS).filter((one) => !/^[a-z]/.test(one))].join("|");
// Words stand between spaces; marks need none.
const OPERATOR = `\\s+(${WORDS})(?=\\s|$)|\\s*(${MARKS})`;
const CLUSTER = /^\s*(not[\s-]+)?cluster\s+(?=[-\d])/i;

/** The condition that a text says. Names that are known may hold operators, and one that is not known is an error. */
export function parseCondition(text: string, known: readonly string[] = []): Condition {
  const cluster = CLUSTER.exec(text);
  if (cluster) return { column: "cluster", operator: cluster[1] ? "not-cluster" : "cluster", values: listed(text.slice(cluster[0].length), text) };
  const { column, sign, rest } = cut(text, known);
  if (known.length > 0 && !known.includes(column)) throw new ConditionError(noColumn(column, known));
  if (FOREIGN.includes(sign)) {
    throw new ConditionError(`There is no operator '${sign}'. There are =, !=, >, <, in, not in, between (both ends included) and not between.`);
  }
  const operator = SIGNS[sign.toLowerCase().split(/\s+/).join(" ")]!;
  return { column, operator, values: valuesOf(operator, rest.trim(), text) };
}

export function noColumn(name: string, known: readonly string[]): string {
  if (name === "cluster") return "There is no column 'cluster' yet. Find the clusters first.";
  return `There is no column '${name}'.${didYouMean(name, known)}`;
}

function cut(text: string, known: readonly string[]): { column: string; sign: string; rest: string } {
  const stripped = text.trim();
  const at = new RegExp(OPERATOR, "iy");
  for (const name of [...known].sort((a, b) => b.length - a.length)) {
    for (const written of [name, `"${name}"`]) {
      if (!stripped.startsWith(written)) continue;
      at.lastIndex = written.length;
      const found = at.exec(stripped);
      if (found) return { column: name, sign: (found[1] ?? found[2])!, rest: stripped.slice(at.lastIndex) };
    }
  }
  const found = new RegExp(OPERATOR, "i").exec(stripped);
  if (!found || found.index === 0) {
    throw new ConditionError(`'${text}' is not a condition. Write a column, an operator and a value, such as 'label = 4' or 'loss > 1.5'.`);
  }
  return { column: bare(stripped.slice(0, found.index)), sign: (found[1] ?? found[2])!, rest: stripped.slice(found.index + found[0].length) };
}

function valuesOf(operator: Operator, rest: string, text: string): string[] {
  if (!rest) throw new ConditionError(`'${text}' lacks a value after its operator.`);
  if (operator === "in" || operator === "not-in") return listed(rest, text);
  if (operator !== "between" && operator !== "not-between") return [bare(rest)];
  const ends = listed(rest.includes(",") ? rest : rest.split(/\s+and\s+|\s+/).join(","), text);
  if (ends.length !== 2) throw new ConditionError(`'${operator.replace("-", " ")}' needs two values, such as '1 2', but '${text}' has ${ends.length}.`);
  return ends;
}

// Values between commas, also in brackets; those with commas in quotes, a double quote in them twice.
function listed(rest: string, text: string): string[] {
  const inside = withoutBrackets(rest.trim());
  const values: string[] = [];
  const value = /\s*(?:"((?:[^"]|"")*)"?([^,]*)|'([^']*)'\s*(?=,|$)|([^,]*))(,|$)/y;
  for (;;) {
    const found = value.exec(inside);
    if (!found) break;
    values.push((found[1] === undefined ? (found[3] ?? found[4]!) : found[1].replaceAll('""', '"') + found[2]!).trim());
    if (found[5] === "") break;
  }
  if (values.length === 0 || values.some((one) => one === "")) {
    throw new ConditionError(`'${text}' has a value that is empty. Separate values by commas, such as 'label in 4,9'.`);
  }
  return values;
}

/** A list without the brackets around the whole of it, as Python and SQL write one. */
function withoutBrackets(text: string): string {
  const opening = text[0] ?? "";
  const closing = ({ "(": ")", "[": "]" } as Record<string, string>)[opening];
  let depth = 0;
  for (let place = 0; closing && place < text.length; place++) {
    depth += Number(text[place] === opening) - Number(text[place] === closing);
    if (depth === 0) return place === text.length - 1 ? text.slice(1, -1) : text;
  }
  return text;
}

function bare(text: string): string {
  const stripped = text.trim();
  const quoted = stripped.length >= 2 && stripped[0] === stripped.at(-1) && (stripped[0] === '"' || stripped[0] === "'");
  return quoted ? stripped.slice(1, -1) : stripped;
}

const PRINTED: Record<Operator, string> = {
  equal: "=",
  "not-equal": "!=",
  "greater-than": ">",
  "less-than": "<",
  in: "in",
  "not-in": "not in",
  between: "between",
  "not-between": "not between",
  cluster: "cluster",
  "not-cluster": "not cluster",
};

/** A condition as text that parses to the same. */
export function printCondition({ column, operator, values }: Condition): string {
  if (operator === "cluster" || operator === "not-cluster") return `${PRINTED[operator]} ${values.join(",")}`;
  const name = new RegExp(OPERATOR, "i").test(column) || bare(column) !== column ? `"${column}"` : column;
  return `${name} ${PRINTED[operator]} ${printedValues(operator, values)}`;
}

function printedValues(operator: Operator, values: readonly string[]): string {
  if (operator === "in" || operator === "not-in") return values.map(inList).join(",");
  if (operator !== "between" && operator !== "not-between") return bare(values[0]!) === values[0] && values[0] !== "" ? values[0] : `"${values[0]!}"`;
  return values.every((one) => /^[^\s,"]+$/.test(one)) ? values.join(" ") : values.map(inList).join(",");
}

function inList(value: string): string {
  return /[",]|^['([]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** `label = a`, or `label in a,b` where there are several. */
export function isAnyOf(column: string, values: readonly string[]): string {
  return printCondition({ column, operator: values.length === 1 ? "equal" : "in", values });
}

/** For which points a condition holds: 1 or 0. What is missing fulfils only conditions with a `not`. */
export function holds(column: Column, condition: Condition): Uint8Array {
  const negated = condition.operator.startsWith("not-");
  const operator = (negated ? condition.operator.slice(4) : condition.operator) as Operator;
  if (column.kind === "number") return amongNumbers(column.values, operator, condition, negated);
  // Clusters are whole numbers, which the page holds as names.
  if (column.name === "cluster") return byCode(column.codes, amongNumbers(Float64Array.from(column.names, Number), operator, condition, false), negated);
  if (!negated && column.kind !== "yes-or-no") refuseUnknown(column, operator, condition);
  const right = column.kind === "yes-or-no" ? amongTruths(column, operator, condition) : amongTexts(column, operator, condition);
  return byCode(column.codes, right, negated);
}

function amongNumbers(values: Float32Array | Float64Array, operator: Operator, condition: Condition, negated: boolean): Uint8Array {
  const narrow = values instanceof Float32Array;
  const wanted = condition.values.map((text) => {
    const value = numberOf(text);
    if (Number.isNaN(value)) throw new ConditionError(`Column '${condition.column}' holds numbers, but the condition compares it with '${text}'.`);
    // 0.1 as a person writes it is the float32 nearest to 0.1 in a column of float32.
    return narrow ? Math.fround(value) : value;
  });
  const found = new Uint8Array(values.length);
  const yes = negated ? 0 : 1;
  const no = 1 - yes;
  if (operator === "equal" || operator === "in" || operator === "cluster") {
    const set = new Set(wanted);
    const only = wanted[0]!;
    if (set.size === 1) for (let i = 0; i < found.length; i++) found[i] = values[i]! === only ? yes : no;
    else for (let i = 0; i < found.length; i++) found[i] = set.has(values[i]!) ? yes : no;
    return found;
  }
  const low = operator === "less-than" ? -Infinity : Math.min(...wanted);
  const high = operator === "greater-than" ? Infinity : Math.max(...wanted);
  if (operator === "between") for (let i = 0; i < found.length; i++) found[i] = values[i]! >= low && values[i]! <= high ? yes : no;
  else if (operator === "greater-than") for (let i = 0; i < found.length; i++) found[i] = values[i]! > low ? yes : no;
  else for (let i = 0; i < found.length; i++) found[i] = values[i]! < high ? yes : no;
  return found;
}

const YES = ["true", "yes", "1"];
const NO = ["false", "no", "0"];

function amongTruths(column: CodedColumn, operator: Operator, condition: Condition): Uint8Array {
  const wanted = condition.values.map((text) => truthOf(text, condition.column));
  return Uint8Array.from(column.names, (name) => Number(compared(truthOf(name, condition.column), operator, wanted, (a, b) => a - b)));
}

function truthOf(text: string, column: string): number {
  const lowered = text.trim().toLowerCase();
  if (YES.includes(lowered)) return 1;
  if (NO.includes(lowered)) return 0;
  throw new ConditionError(`Column '${column}' holds yes or no, but the condition compares it with '${text}'.`);
}

function amongTexts(column: CodedColumn, operator: Operator, condition: Condition): Uint8Array {
  const listed = operator === "equal" || operator === "in" || operator === "cluster";
  if (column.folded && !(listed && condition.values.every((one) => column.names.includes(one) && one !== column.names.at(-1)))) {
    throw new ConditionError(`Column '${column.name}' has too many values for the page: only the ${column.names.length - 1} most frequent ones can be selected here, one by one.`);
  }
  if (listed) {
    const set = new Set(condition.values);
    return Uint8Array.from(column.names, (name) => Number(set.has(name)));
  }
  return Uint8Array.from(column.names, (name) => Number(compared(name, operator, condition.values, byCodePoint)));
}

/** Refuses to select nothing in silence: values of which no sample has any. */
function refuseUnknown(column: CodedColumn, operator: Operator, condition: Condition): void {
  if ((operator !== "equal" && operator !== "in") || column.folded || column.names.length === 0 || condition.values.some((one) => column.names.includes(one))) return;
  const [asked, there] = [condition.values, column.names].map((names) => names.slice(0, 10).map((one) => `'${one}'`));
  const more = column.names.length > 10 ? ` and ${column.names.length - 10} more` : "";
  throw new ConditionError(`No sample has ${asked!.join(" or ")} in column '${column.name}'.${didYouMean(condition.values[0]!, column.names.slice(0, 5000))} It holds ${there!.join(", ")}${more}.`);
}

function compared<T>(value: T, operator: Operator, wanted: readonly T[], order: (a: T, b: T) => number): boolean {
  if (operator === "greater-than") return order(value, wanted[0]!) > 0;
  if (operator === "less-than") return order(value, wanted[0]!) < 0;
  if (operator !== "between") return wanted.includes(value);
  const [low, high] = [...wanted].sort(order);
  return order(value, low!) >= 0 && order(value, high!) <= 0;
}

// As bytes of UTF-8 compare, which is by code point; JavaScript's own `<` compares halves of surrogate pairs.
function byCodePoint(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const apart = left[i]!.codePointAt(0)! - right[i]!.codePointAt(0)!;
    if (apart !== 0) return apart;
  }
  return left.length - right.length;
}

function byCode(codes: Int32Array, right: Uint8Array, negated: boolean): Uint8Array {
  const flip = negated ? 1 : 0;
  const found = new Uint8Array(codes.length);
  for (let i = 0; i < found.length; i++) found[i] = (codes[i]! < 0 ? 0 : right[codes[i]!]!) ^ flip;
  return found;
}

/** A number as the library reads it; NaN where a text is none. */
export function numberOf(text: string): number {
  const stripped = text.trim();
  if (/^[+-]?inf(inity)?$/i.test(stripped)) return stripped[0] === "-" ? -Infinity : Infinity;
  if (!/^[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)(e[+-]?\d+(_\d+)*)?$/i.test(stripped)) return NaN;
  return Number(stripped.replaceAll("_", ""));
}
