// Decisions about labels on one page: sends them, remembers them until the rows are asked for again, and which came last.

import { untrack } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import { ApiError, getPage, ofRun, send } from "../../api/client";
import type { DecisionRow, NewDecision, SuggestionRow } from "../../api/schema";
import { resource } from "../../lib/resource.svelte";
import { changedBy } from "./labels";

const COUNTED = 1000;

export interface Deciding {
  readonly mine: SvelteMap<string, DecisionRow>;
  readonly busy: string | null;
  readonly error: ApiError | undefined;
  /** How many suggestions there are, and how many of them are decided; null until that is known. */
  readonly total: number | null;
  readonly decided: number | null;
  readonly overlay: string | null;
  /** How many it has; null where that takes a decision to know. */
  readonly corrections: number | null;
  /** The sample that was decided about last. */
  readonly last: string | null;
  decide(row: SuggestionRow, decision: NewDecision["decision"], label?: string | null): Promise<boolean>;
  recount(): void;
}

/** To be called while a component is made. */
export function deciding(run: () => string, evaluation: () => number | null): Deciding {
  const mine = new SvelteMap<string, DecisionRow>();
  const order: string[] = [];
  let busy = $state<string | null>(null);
  let error = $state.raw<ApiError | undefined>(undefined);
  let more = $state(0);
  let known = $state.raw<DecisionRow | undefined>(undefined);
  let last = $state<string | null>(null);

  const counts = resource(async (signal) => {
    const path = ofRun(run(), "suggestions");
    const asked = { evaluation: evaluation() };
    const [all, decided] = await Promise.all([
      getPage<SuggestionRow>(path, { ...asked, limit: 1 }, signal),
      getPage<SuggestionRow>(path, { ...asked, decided: "decided", limit: COUNTED }, signal),
    ]);
    untrack(() => (more = 0));
    return { total: all.total, decided: decided.total, accepted: decided.data.filter((one) => one.decision === "accepted").length, all: decided.total <= COUNTED };
  });

  async function decide(row: SuggestionRow, decision: NewDecision["decision"], label: string | null = null): Promise<boolean> {
    busy = row.sample;
    try {
      const kept = await send<DecisionRow>("POST", ofRun(run(), "decisions"), { sample: row.sample, decision, label, evaluation: evaluation() });
      more += changedBy(row.decision, kept.decision);
      mine.set(row.sample, kept);
      known = kept;
      if (decision === "undo") order.splice(order.lastIndexOf(row.sample), order.includes(row.sample) ? 1 : 0);
      else order.push(row.sample);
      last = order.at(-1) ?? null;
      error = undefined;
      return true;
    } catch (cause) {
      error = ApiError.from(cause);
      return false;
    } finally {
      busy = null;
    }
  }

  return {
    mine,
    get busy() {
      return busy;
    },
    get error() {
      return error ?? counts.error;
    },
    get total() {
      return counts.data?.total ?? null;
    },
    get decided() {
      return counts.data ? Math.max(0, Math.min(counts.data.total, counts.data.decided + more)) : null;
    },
    get overlay() {
      return known ? known.overlay : (counts.data?.accepted ?? 0) > 0 ? "studio" : null;
    },
    get corrections() {
      if (known) return known.corrections;
      return counts.data?.all ? counts.data.accepted : null;
    },
    get last() {
      return last;
    },
    decide,
    recount: counts.reload,
  };
}
