// Asks again when the studio says that something has changed. An answer that is still on its way is waited for: a job that
// tells of its progress often would otherwise never be shown.

import { untrack } from "svelte";
import { live } from "../../api/live.svelte";
import type { Event as LiveEvent } from "../../api/schema";
import type { Resource } from "../../lib/resource.svelte";
import { throttled } from "../../lib/throttle";

const OFTEN_MS = 400;

/** To be called while a component is made. `topic` and `wanted` may depend on state; no topic listens to nothing. */
export function renewing(asked: Pick<Resource<unknown>, "loading" | "reload">, topic: () => string | null, wanted: (event: LiveEvent) => boolean = () => true): void {
  $effect(() => {
    const name = topic();
    if (name === null) return;
    let later: ReturnType<typeof setTimeout> | undefined;
    const renew = throttled(() => {
      if (untrack(() => asked.loading)) later = setTimeout(renew.ask, OFTEN_MS / 4);
      else asked.reload();
    }, OFTEN_MS);
    const unwatch = live.watch(name, (event) => {
      // `state` is what the page tells itself after it was hidden.
      if (event.what === "state" || wanted(event)) renew.ask();
    });
    return () => {
      unwatch();
      renew.stop();
      clearTimeout(later);
    };
  });
  // What changed between the first answer and the beginning of listening was told to nobody.
  let begun = live.begun;
  $effect(() => {
    if (live.begun === begun) return;
    begun = live.begun;
    untrack(() => {
      if (topic() !== null) asked.reload();
    });
  });
}
