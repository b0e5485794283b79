// Arrow answers as plain columns: numbers as typed arrays, the rest as lists.

import { tableFromIPC, type Table } from "@uwdata/flechette";
import { getBytes } from "./client";
import type { Query } from "../lib/address";

export type Numbers = Float64Array | Float32Array | Int32Array | Uint32Array | Int16Array | Uint16Array | Int8Array | Uint8Array;

export class Columns {
  constructor(private readonly table: Table) {}

  get rows(): number {
    return this.table.numRows;
  }

  /** A column of numbers; null becomes NaN, whole numbers of 64 bits become doubles. */
  numbers(name: string): Float64Array {
    const values = this.column(name).toArray() as ArrayLike<number | bigint | null>;
    if (values instanceof Float64Array) return values;
    const found = new Float64Array(values.length);
    for (let i = 0; i < found.length; i++) {
      const value = values[i];
      found[i] = value === null || value === undefined ? NaN : Number(value);
    }
    return found;
  }

  /** A column of numbers as narrow as it was sent; null becomes NaN. */
  floats(name: string): Float32Array | Float64Array {
    const column = this.column(name);
    const sent = column.nullCount === 0 ? (column.toArray() as unknown) : null;
    if (sent instanceof Float32Array || sent instanceof Float64Array) return sent;
    const wide = !column.data.every((batch) => batch.values instanceof Float32Array);
    const found = wide ? new Float64Array(column.length) : new Float32Array(column.length);
    let next = 0;
    for (const batch of column.data) {
      const values = batch.values as ArrayLike<number | bigint>;
      for (let i = 0; i < batch.length; i++) found[next++] = batch.nullCount > 0 && !batch.isValid(i) ? NaN : Number(values[i]);
    }
    return found;
  }

  /** A column of whole numbers that are never missing, as they were sent. */
  wholes(name: string): Uint32Array {
    const sent = this.column(name).toArray() as unknown;
    return sent instanceof Uint32Array ? sent : Uint32Array.from(sent as ArrayLike<number>);
  }

  /** A column of a dictionary: what each row is as a number into `names`, -1 where it is missing. Makes no text for each row. */
  codes(name: string): { codes: Int32Array; names: string[] } {
    const column = this.column(name);
    const codes = new Int32Array(column.length);
    let names: string[] = [];
    let next = 0;
    for (const batch of column.data) {
      if (!("dictionary" in batch)) throw new Error(`Column ${name} has no dictionary.`);
      names = Array.from(batch.dictionary as Iterable<unknown>, (one) => String(one));
      const keys = batch.values as unknown as ArrayLike<number>;
      const whole = batch.nullCount === 0;
      for (let i = 0; i < batch.length; i++) codes[next++] = whole || batch.isValid(i) ? Number(keys[i]) : -1;
    }
    return { codes, names };
  }

  texts(name: string): (string | null)[] {
    const column = this.column(name);
    return Array.from({ length: this.rows }, (_, i) => (column.at(i) as string | null) ?? null);
  }

  /** A column of lists of numbers, a row of the answer each. */
  lists(name: string): ArrayLike<number>[] {
    const column = this.column(name);
    return Array.from({ length: this.rows }, (_, i) => (column.at(i) as ArrayLike<number> | null) ?? []);
  }

  has(name: string): boolean {
    return this.table.names.includes(name);
  }

  /** What the schema says beside the columns. */
  about(key: string): string | null {
    return this.table.schema.metadata?.get(key) ?? null;
  }

  private column(name: string) {
    const column = this.table.getChild(name);
    if (!column) throw new Error(`The answer has no column ${name}.`);
    return column;
  }
}

export function columnsOf(bytes: ArrayBuffer): Columns {
  return new Columns(tableFromIPC(new Uint8Array(bytes)));
}

export async function getColumns(path: string, query: Query = {}, signal?: AbortSignal): Promise<Columns> {
  return columnsOf(await getBytes(path, query, signal));
}
