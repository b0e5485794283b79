// The points and columns of an evaluation, asked for when somebody needs them and kept as typed arrays. From one
// evaluation to the next a sample moves by its id.

import { ApiError, ofRun } from "../../api/client";
import { getColumns, type Columns } from "../../api/arrow";
import type { PopulationColumn } from "../../api/schema";
import type { Column } from "../../map/columns";
import type { Points } from "../../map/types";

export interface LoadedPoints {
  evaluation: number;
  /** Null where there is no map. */
  points: Points | null;
  /** The row of each point. */
  row: Uint32Array;
}

const ROW = "row";

export class PopulationData {
  loaded = $state.raw<LoadedPoints | null>(null);
  columns = $state.raw<ReadonlyMap<string, Column>>(new Map());
  error = $state.raw<ApiError | undefined>(undefined);

  private evaluation = -1;
  private kinds = new Map<string, PopulationColumn["kind"]>();
  private asked = new Set<string>();
  private batch: string[] | null = null;
  private round = 0;
  private pointOf: Int32Array | null = null;

  constructor(private readonly run: string) {}

  /** Opens an evaluation: its points, every column that was there before, and what is wanted first, at once. */
  async open(evaluation: number, method: string | null, known: readonly PopulationColumn[], first: readonly string[]): Promise<void> {
    const round = ++this.round;
    this.evaluation = evaluation;
    this.kinds = new Map(known.map(({ name, kind }) => [name, kind]));
    const again = [...new Set([...this.columns.keys(), ...(this.batch ?? []), ...first])].filter((name) => this.kinds.has(name));
    this.asked = new Set(again);
    this.batch = null;
    try {
      const places = method === null ? null : getColumns(ofRun(this.run, "population/points.arrow"), { evaluation, method });
      const columns = this.ask(evaluation, method === null ? [ROW, ...again] : again);
      const [map, answer] = await Promise.all([places, columns]);
      const points = map && (await this.moving(pointsOf(map), evaluation, method!));
      if (round !== this.round) return;
      this.pointOf = null;
      this.error = undefined;
      this.loaded = { evaluation, points, row: (map ?? answer!).wholes(ROW) };
      this.columns = new Map(answer ? this.read(answer, again) : []);
    } catch (cause) {
      if (round === this.round) this.error = ApiError.from(cause);
    }
  }

  /** Sees to it that columns are there soon; those that the evaluation does not have are left out. */
  want(names: readonly string[]): void {
    for (const name of names) {
      if (this.asked.has(name) || !this.kinds.has(name)) continue;
      this.asked.add(name);
      if (this.batch === null) {
        this.batch = [];
        queueMicrotask(() => void this.fetch());
      }
      this.batch.push(name);
    }
  }

  /** The point of a row, -1 for none. */
  pointAt(row: number): number {
    const rows = this.loaded?.row;
    if (!rows) return -1;
    if (this.pointOf === null) {
      this.pointOf = new Int32Array(rows.length).fill(-1);
      for (let i = 0; i < rows.length; i++) this.pointOf[rows[i]!] = i;
    }
    return this.pointOf[row] ?? -1;
  }

  private async fetch(): Promise<void> {
    const names = this.batch ?? [];
    this.batch = null;
    if (names.length === 0) return;
    const round = this.round;
    try {
      const answer = await this.ask(this.evaluation, names);
      if (round !== this.round || !answer) return;
      this.columns = new Map([...this.columns, ...this.read(answer, names)]);
    } catch (cause) {
      if (round !== this.round) return;
      for (const name of names) this.asked.delete(name);
      this.error = ApiError.from(cause);
    }
  }

  /** The points with where they come from: of other samples than before, the server knows which are the same. */
  private async moving(points: Points, evaluation: number, method: string): Promise<Points> {
    const before = this.loaded;
    if (!before?.points || before.evaluation === evaluation || before.points.samples === points.samples) return points;
    try {
      const like = { evaluation: before.evaluation, method, like: evaluation };
      return { ...points, from: pointsOf(await getColumns(ofRun(this.run, "population/points.arrow"), like)) };
    } catch {
      return points; // a frozen copy was not asked this: its points are drawn where they are at once
    }
  }

  private ask(evaluation: number, column: string[]): Promise<Columns> | null {
    return column.length === 0 ? null : getColumns(ofRun(this.run, "population/columns.arrow"), { evaluation, column });
  }

  private read(answer: Columns, names: readonly string[]): [string, Column][] {
    const told = JSON.parse(answer.about("columns") ?? "{}") as Record<string, { other?: number | null }>;
    return names.map((name) => {
      const kind = this.kinds.get(name) ?? "text";
      if (kind === "number") return [name, { kind, name, values: answer.floats(name) }];
      const { codes, names: values } = answer.codes(name);
      // What belongs to no cluster is cluster -1 in conditions.
      const called = name === "cluster" ? values.map((one) => (one === "none" ? "-1" : one)) : values;
      return [name, { kind, name, codes, names: called, folded: typeof told[name]?.other === "number" }];
    });
  }
}

function pointsOf(map: Columns): Points {
  return { x: narrow(map.floats("x")), y: narrow(map.floats("y")), samples: map.about("samples") ?? undefined };
}

function narrow(values: Float32Array | Float64Array): Float32Array {
  return values instanceof Float32Array ? values : Float32Array.from(values);
}
