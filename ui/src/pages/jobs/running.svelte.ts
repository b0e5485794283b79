// How many jobs run now, for the top bar. Asks once, and again when a job was started here or the tab is seen again;
// listens only while one runs.

import { getPage } from "../../api/client";
import { live } from "../../api/live.svelte";
import type { JobRow } from "../../api/schema";
import { throttled } from "../../lib/throttle";
import { isGoing } from "./words";

const NEWEST = 20;
const OFTEN_MS = 2000;

class Running {
  count = $state(0);
  private unwatch: (() => void) | undefined;
  private again = throttled(() => void this.look(), OFTEN_MS);

  async look(): Promise<void> {
    try {
      const newest = await getPage<JobRow>("jobs", { limit: NEWEST });
      this.count = newest.data.filter(isGoing).length;
    } catch {
      // The jobs page says what is wrong; a mark in the bar is no place for it.
      this.count = 0;
    }
    this.listen(this.count > 0);
  }

  private listen(wanted: boolean): void {
    if (wanted) this.unwatch ??= live.watch("jobs", () => this.again.ask());
    else {
      this.unwatch?.();
      this.unwatch = undefined;
      this.again.stop();
    }
  }
}

export const running = new Running();
