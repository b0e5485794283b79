// Something asked of the server: what is known of it now. Asks again when what it depends on changes; keeps the old
// answer meanwhile, so that nothing flickers; a slower answer to an older question is thrown away.

import { ApiError } from "../api/client";

export interface Resource<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly loading: boolean;
  reload(): void;
}

/** `ask` runs inside an effect: the state that it reads before its first `await` is what it depends on. */
export function resource<T>(ask: (signal: AbortSignal) => Promise<T> | null): Resource<T> {
  let data = $state.raw<T | undefined>(undefined);
  let error = $state.raw<ApiError | undefined>(undefined);
  let loading = $state(true);
  let round = $state(0);

  $effect(() => {
    void round;
    const stop = new AbortController();
    const answer = ask(stop.signal);
    if (answer === null) {
      data = undefined;
      loading = false;
      return;
    }
    loading = true;
    answer.then(
      (found) => {
        if (stop.signal.aborted) return;
        data = found;
        error = undefined;
        loading = false;
      },
      (cause: unknown) => {
        if (stop.signal.aborted) return;
        error = ApiError.from(cause);
        loading = false;
      },
    );
    return () => stop.abort();
  });

  return {
    get data() {
      return data;
    },
    get error() {
      return error;
    },
    get loading() {
      return loading;
    },
    reload: () => {
      round += 1;
    },
  };
}
