// Conditions on runs as texts: `config.lr < 0.1`, `state == 'running'`. The server reads the same grammar and has the last word.

export const OPERATORS = ["==", "!=", "<", "<=", ">", ">="] as const;
export type Operator = (typeof OPERATORS)[number];

export interface Condition {
  column: string;
  operator: Operator;
  value: string | number | boolean;
}

const PATTERN = /^\s*([^\s=!<>]+)\s*(==|!=|<=|>=|=|<|>)(?!=)\s*(.+?)\s*$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A condition as the server reads it. */
export function conditionText({ column, operator, value }: Condition): string {
  return `${column} ${operator} ${valueText(value)}`;
}

/** What a text says, or null where it is no condition of ours. A bare word is a text; `=` is `==`. */
export function readCondition(text: string): Condition | null {
  const found = PATTERN.exec(text);
  if (!found) return null;
  const [, column, operator, value] = found;
  const read = readValue(value!);
  if (read === null) return null;
  return { column: column!, operator: (operator === "=" ? "==" : operator) as Operator, value: read };
}

/** What a person typed as a value of a column of this kind: `0.1` of a text column is a text. */
export function typedValue(text: string, kind: "number" | "text" | "time" | "flag"): Condition["value"] {
  const plain = text.trim();
  if (kind === "text") return unquoted(plain) ?? plain;
  const read = readValue(plain);
  return read === null ? plain : read;
}

/** `where` with a condition more; the same condition is not added twice. */
export function withCondition(where: readonly string[], condition: string): string[] {
  return where.includes(condition) ? [...where] : [...where, condition];
}

function valueText(value: Condition["value"]): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "0";
  if (typeof value === "boolean") return value ? "true" : "false";
  return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function readValue(text: string): Condition["value"] | null {
  const quoted = unquoted(text);
  if (quoted !== null) return quoted;
  if (/^['"]/.test(text)) return null;
  if (NUMBER.test(text)) return Number(text);
  const word = text.toLowerCase();
  return word === "true" ? true : word === "false" ? false : text;
}

function unquoted(text: string): string | null {
  const found = /^(['"])((?:\\.|(?!\1|\\).)*)\1$/.exec(text);
  return found ? found[2]!.replace(/\\(.)/g, "$1") : null;
}
