// The sample that is open beside the map, and the samples that are like it or like the selection.

import { ApiError, get, ofRun } from "../../api/client";
import type { PopulationRow, SimilarAnswer } from "../../api/schema";
import { router } from "../../lib/router.svelte";
import { rowsOfSamples } from "./rows.svelte";
import type { PopulationView } from "./view.svelte";

/** As many samples as can be asked about at once. */
export const MOST_ASKED = 500;

export class Opened {
  row = $state.raw<PopulationRow | null>(null);
  error = $state.raw<ApiError | undefined>(undefined);
  similar = $state.raw<SimilarAnswer | null>(null);
  /** What the similar samples are like. */
  about = $state("");
  asking = $state(false);
  private round = 0;

  constructor(private readonly view: PopulationView) {}

  /** `keep` leaves the similar samples of another one in sight: it is one of them. */
  open(sample: string | null, keep = false): void {
    if (sample !== this.row?.sample && !keep) this.forget();
    router.change({ sample });
  }

  /** Shows the sample that the address names. */
  async show(sample: string | null, known: PopulationRow | undefined): Promise<void> {
    this.error = undefined;
    if (sample === null) {
      this.row = null;
      return;
    }
    if (known) {
      this.row = known;
      return;
    }
    try {
      const [found] = await rowsOfSamples(this.view.run, this.view.data.loaded?.evaluation ?? null, [sample]);
      if (router.query.get("sample") !== sample) return;
      this.row = found ?? null;
      if (!found) this.error = new ApiError(`There is no sample ${sample} in this evaluation.`, "It may be in another evaluation of the run.", 404, "sample-unavailable", "");
    } catch (cause) {
      this.error = ApiError.from(cause);
    }
  }

  /** Asks for what is like some samples. */
  async findSimilar(samples: readonly string[], about: string): Promise<void> {
    const round = ++this.round;
    this.asking = true;
    this.about = about;
    this.error = undefined;
    try {
      const found = await get<SimilarAnswer>(ofRun(this.view.run, "sample/similar"), { sample: samples.slice(0, MOST_ASKED), evaluation: this.view.data.loaded?.evaluation ?? null, count: 24 });
      if (round === this.round) this.similar = found;
    } catch (cause) {
      if (round === this.round) this.error = ApiError.from(cause);
    }
    if (round === this.round) this.asking = false;
  }

  forget(): void {
    this.round += 1;
    this.similar = null;
    this.about = "";
    this.asking = false;
    this.error = undefined;
  }

  /** The points that have a ring: the open sample's, then the similar ones'. */
  get rings(): number[] {
    const rows = [...(this.row ? [this.row.row] : []), ...(this.similar?.similar ?? []).map((one) => one.row)];
    return rows.map((row) => this.view.data.pointAt(row)).filter((point) => point >= 0);
  }
}
