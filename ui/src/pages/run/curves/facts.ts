// A run in a row of facts, and what is not as it should be with its files, in sentences.

import type { RunDetail } from "../../../api/schema";
import { count, duration, grouped, number } from "../../../lib/format";

export interface Fact {
  title: string;
  value: string;
  more?: string;
}

export function factsOf(detail: RunDetail): Fact[] {
  const { row, steps, identity } = detail;
  const found: (Fact | null)[] = [
    { title: "Steps", value: grouped(row.steps), ...more(modes(steps.by_mode)) },
    row.epochs === null ? null : { title: "Epochs", value: grouped(row.epochs) },
    row.seconds === null ? null : { title: ["starting", "running", "paused"].includes(row.state) ? "So far" : "Took", value: duration(row.seconds) },
    row.seconds && row.steps ? { title: "Speed", value: `${number(row.steps / row.seconds, 3)} steps/s` } : null,
    row.loss ? { title: row.loss.name, value: row.loss.last === null ? "not finite" : number(row.loss.last), ...more(row.loss.best === null ? "" : `best ${number(row.loss.best)}`) } : null,
    row.framework ? { title: "Framework", value: row.framework } : null,
    commit(identity) ? { title: "Git", value: commit(identity) } : null,
    detail.overlay ? { title: "Overlay", value: detail.overlay } : null,
  ];
  return found.filter((fact) => fact !== null);
}

/** What a person must know before trusting a picture of this run. */
export function warningsOf(detail: RunDetail): string[] {
  const { damage, steps, attempts } = detail;
  const found: string[] = [];
  if (damage.length > 0) {
    const named = damage.slice(0, 3).map(({ path, reason }) => `${path} (${reason})`);
    const rest = damage.length > 3 ? ` and ${damage.length - 3} more` : "";
    found.push(`${count(damage.length, "part")} of this run cannot be read, everything else can: ${named.join("; ")}${rest}.`);
  }
  if (steps.thinned > 0) found.push(`${count(steps.thinned, "step")} not recorded: the writer could not keep up with the training. A larger \`statistics_every\` avoids it.`);
  if (attempts.length > 1) {
    const last = attempts.at(-1)!;
    found.push(`This run was resumed: attempt ${last.attempt} took over from step ${grouped(last.from_step)}. Steps that it replaced are not in the curves.`);
  }
  if (detail.stopped_by) found.push(`${detail.stopped_by}.`);
  return found;
}

function modes(byMode: Record<string, number>): string {
  const known = Object.entries(byMode);
  return known.length > 1 ? known.map(([mode, steps]) => `${grouped(steps)} ${mode.toLowerCase()}`).join(", ") : "";
}

function commit(identity: Record<string, unknown>): string {
  const git = identity["git"];
  return typeof git === "string" ? git.slice(0, 10) : "";
}

function more(text: string): { more?: string } {
  return text ? { more: text } : {};
}
