
// Round numbers along an axis, and where values lie on it.
function ticksOf(low, high, about) {
  const span = high - low || Math.abs(high) || 1;
  const rough = span / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(Number((i * step).toPrecision(12)));
  return found;
}

function extentOf(lists, fromZero) {
  let [low, high] = fromZero ? [0, 0] : [Infinity, -Infinity];
  for (const list of lists) {
    for (const value of list || []) {
      if (value !== null) { low = Math.min(low, value); high = Math.max(high, value); }
    }
  }
  if (low > high) return [0, 1];
  if (low === high) return fromZero ? [0, high || 1] : [low - (Math.abs(low) || 1) * 0.1, high + (Math.abs(high) || 1) * 0.1];
  const room = (high - low) * 0.05;
  return [fromZero ? 0 : low - room, high + room];
}

function scaleOf([low, high], from, to) {
  return (value) => from + ((value - low) / (high - low)) * (to - from);
}
