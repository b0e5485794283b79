// Something that is asked for often and done at most once in a while: at once, and once more at the end where it was asked again.

export function throttled(act: () => void, milliseconds: number): { ask: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let again = false;
  const run = (): void => {
    again = false;
    timer = setTimeout(() => {
      timer = undefined;
      if (again) run();
    }, milliseconds);
    act();
  };
  return {
    ask: () => {
      if (timer === undefined) run();
      else again = true;
    },
    stop: () => {
      clearTimeout(timer);
      timer = undefined;
      again = false;
    },
  };
}
