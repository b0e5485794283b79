// Conditions on runs as texts, in the grammar of `--where`: `config.lr < 0.1`, `state = running`, `steps between 10 90`. The
// server reads them and has the last word; here they are put together, and what is no condition at all is told at once.

export const OPERATORS = ["=", "!=", "<", ">", "between", "not between", "in", "not in"] as const;
export type Operator = (typeof OPERATORS)[number];

export interface Condition {
  column: string;
  operator: Operator;
  /** As it is written: two ends for `between`, several with commas for `in`. */
  value: string;
}

// Words stand between spaces; marks need none.
const OPERATOR = /\s+(not\s+between|between|not\s+in|in)\s+|\s*(>=|<=|<>|==|!=|=|<|>)\s*/i;

export function conditionText({ column, operator, value }: Condition): string {
  return `${column} ${operator} ${value}`;
}

/** What a text says, or null where it is no condition. `columns` are those that there are: a name may hold an operator. */
export function readCondition(text: string, columns: readonly string[] = []): Condition | null {
  const plain = text.trim();
  const named = columns
    .filter((name) => plain.startsWith(name) && OPERATOR.exec(plain.slice(name.length))?.index === 0)
    .sort((a, b) => b.length - a.length)[0];
  const from = named?.length ?? 0;
  const found = OPERATOR.exec(plain.slice(from));
  if (!found || (named === undefined && found.index === 0)) return null;
  const column = named ?? plain.slice(0, found.index);
  const value = plain.slice(from + found.index + found[0].length).trim();
  const sign = (found[1] ?? found[2]!).toLowerCase().replace(/\s+/, " ");
  const operator = OPERATORS.find((one) => one === (sign === "==" ? "=" : sign));
  return value === "" || operator === undefined ? null : { column, operator, value };
}

/** A text as the value of a condition that shall be equal to it: quotes of its own would be taken off. */
export function exactly(text: string): string {
  const outer = text[0];
  const quoted = text.length >= 2 && outer === text.at(-1) && (outer === "'" || outer === '"');
  return quoted || text !== text.trim() ? (outer === '"' ? `'${text}'` : `"${text}"`) : text;
}

/** `where` with a condition more; the same condition is not added twice. */
export function withCondition(where: readonly string[], condition: string): string[] {
  return where.includes(condition) ? [...where] : [...where, condition];
}

/** `where` with a condition in place of those that have the same column and operator: what a brush moves. */
export function replacing(where: readonly string[], condition: Condition | null, column: string, operator: Operator): string[] {
  const rest = where.filter((text) => {
    const read = readCondition(text, [column]);
    return !(read && read.column === column && read.operator === operator);
  });
  return condition ? [...rest, conditionText(condition)] : rest;
}
