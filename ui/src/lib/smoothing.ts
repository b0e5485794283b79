// Smoothing of a curve: an exponential mean that is not drawn towards 0 at its start.

/** `weight` from 0 (nothing) to below 1 is how much of the past stays. What is not finite stays so, and is not counted. */
export function smoothed(values: ArrayLike<number>, weight: number): Float64Array {
  const found = new Float64Array(values.length);
  let mean = 0;
  let share = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (!Number.isFinite(value)) {
      found[i] = NaN;
      continue;
    }
    mean = weight * mean + (1 - weight) * value;
    share = weight * share + (1 - weight);
    found[i] = mean / share;
  }
  return found;
}
