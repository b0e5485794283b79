// Samples by their rows, as the table and the cards show them: asked for a hundred at a time, each once.

import { ApiError, get, ofRun } from "../../api/client";
import type { PopulationRow } from "../../api/schema";

const AT_ONCE = 100;

export class PopulationRows {
  known = $state.raw<ReadonlyMap<number, PopulationRow>>(new Map());
  error = $state.raw<ApiError | undefined>(undefined);
  private asked = new Set<number>();
  private round = 0;

  constructor(
    private readonly run: string,
    private readonly evaluation: () => number | null,
  ) {}

  /** Asks for rows that nobody asked for yet. */
  want(rows: readonly number[]): void {
    const missing = rows.filter((row) => !this.asked.has(row));
    for (let i = 0; i < missing.length; i += AT_ONCE) void this.ask(missing.slice(i, i + AT_ONCE));
  }

  /** Asks again for everything that is in sight: what is known stays until the answer is there. */
  renew(rows: readonly number[]): void {
    this.asked = new Set();
    this.want(rows);
  }

  /** Another evaluation: its rows are others. */
  clear(): void {
    this.round += 1;
    this.asked = new Set();
    this.known = new Map();
  }

  retry(): void {
    this.error = undefined;
    this.asked = new Set(this.known.keys());
  }

  private async ask(rows: number[]): Promise<void> {
    const round = this.round;
    for (const row of rows) this.asked.add(row);
    try {
      const found = await get<PopulationRow[]>(ofRun(this.run, "population/rows"), { evaluation: this.evaluation(), row: rows.map(String) });
      if (round !== this.round) return;
      this.known = new Map([...this.known, ...found.map((one) => [one.row, one] as const)]);
      this.error = undefined;
    } catch (cause) {
      if (round === this.round) this.error = ApiError.from(cause);
    }
  }
}

/** The rows of samples by their ids; unknown ids are left out. */
export async function rowsOfSamples(run: string, evaluation: number | null, samples: readonly string[], signal?: AbortSignal): Promise<PopulationRow[]> {
  const found: PopulationRow[] = [];
  for (let i = 0; i < samples.length; i += AT_ONCE) {
    const sample = samples.slice(i, i + AT_ONCE);
    found.push(...(await get<PopulationRow[]>(ofRun(run, "population/rows"), { evaluation, sample }, signal)));
  }
  return found;
}

/** The rows of points. */
export async function rowsOfPoints(view: { run: string; rowOf: (point: number) => number; data: { loaded: { evaluation: number } | null } }, points: readonly number[]): Promise<PopulationRow[]> {
  const found: PopulationRow[] = [];
  for (let i = 0; i < points.length; i += AT_ONCE) {
    const row = points.slice(i, i + AT_ONCE).map((point) => String(view.rowOf(point)));
    found.push(...(await get<PopulationRow[]>(ofRun(view.run, "population/rows"), { evaluation: view.data.loaded?.evaluation ?? null, row })));
  }
  return found;
}
