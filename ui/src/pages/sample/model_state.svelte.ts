// Whether the model can be asked. It is opened when the page opens, so that the first heat map does not wait for that.

import { ApiError, ofRun, send } from "../../api/client";
import { frozen } from "../../api/frozen";
import type { ModelState } from "../../api/schema";

const AGAIN_MS = 1000;

export interface Warming {
  readonly state: ModelState | undefined;
}

/** Opens the model of an evaluation and follows how that goes; belongs to the component that calls it. */
export function warmed(of: () => { run: string; evaluation: number | null }): Warming {
  let state = $state.raw<ModelState | undefined>(undefined);

  $effect(() => {
    const { run, evaluation } = of();
    if (frozen) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let gone = false;
    const look = async (): Promise<void> => {
      try {
        const found = await send<ModelState>("POST", ofRun(run, "model/start"), undefined, { evaluation });
        if (gone) return;
        state = found;
        if (found.state === "starting") timer = setTimeout(() => void look(), AGAIN_MS);
      } catch (cause) {
        if (!gone) state = { state: "unavailable", reason: ApiError.from(cause).message, seconds: null };
      }
    };
    void look();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  });

  return {
    get state() {
      return state;
    },
  };
}
