// Numbers, times and sizes as people read them.

/** A number in at most `digits` significant digits; what is missing is a dash, what is not finite says so. */
export function number(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined) return "–";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e15) return grouped(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(digits - 1).replace("e+", "e").replace(/\.?0+e/, "e").replace("-", "−");
  const text = Number(value.toPrecision(digits)).toString();
  return text.replace("-", "−");
}

/** A whole number with commas between thousands, as in every sentence of the library. */
export function grouped(value: number): string {
  const text = Math.abs(value).toString();
  const sign = value < 0 ? "−" : "";
  return sign + text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

export function share(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : `${number(value * 100, 3)} %`;
}

/** Seconds as the two largest units. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${number(seconds, 2)} s`;
  const whole = Math.round(seconds);
  const units: [number, string][] = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = units.findIndex(([size]) => whole >= size);
  const [size, name] = units[first]!;
  const rest = units[first + 1];
  const count = Math.floor(whole / size);
  const left = rest ? Math.floor((whole - count * size) / rest[0]) : 0;
  return rest && left > 0 ? `${count} ${name} ${left} ${rest[1]}` : `${count} ${name}`;
}

/** How long ago, coarsely. */
export function ago(seconds: number | null | undefined, now: number): string {
  if (seconds === null || seconds === undefined) return "–";
  const past = Math.max(0, now - seconds);
  if (past < 5) return "now";
  if (past < 60) return `${Math.floor(past)} s ago`;
  if (past < 3600) return `${Math.floor(past / 60)} min ago`;
  if (past < 172800) return `${Math.floor(past / 3600)} h ago`;
  return `${Math.floor(past / 86400)} d ago`;
}

/** A moment in the person's own time. */
export function moment(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return "–";
  return new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

export function count(value: number, one: string, many = `${one}s`): string {
  return `${grouped(value)} ${value === 1 ? one : many}`;
}

/** How likely something is by chance. Never 0: that would say that it is impossible. */
export function chance(p: number | null | undefined): string {
  return p !== null && p !== undefined && p < 0.001 ? "< 0.001" : number(p, 2);
}
