// Asking a running training for something: what can be asked now, how it is written as a command, what became of it.

import type { NewRequest, RequestRow, RunDetail } from "../../../api/schema";
import { number } from "../../../lib/format";
import { shellLine } from "../../../lib/shell";

export type Action = NewRequest["action"];
type State = RunDetail["row"]["state"];

export interface Wanted {
  action: Action;
  arguments: Record<string, number>;
  why: string;
}

/** Whether somebody is there to be asked. */
export function isThere(state: State): boolean {
  return state === "starting" || state === "running" || state === "paused";
}

/** Why nothing can be asked, in a sentence. */
export function whyNot(state: State): string {
  const known: Partial<Record<State, string>> = {
    finished: "This run has finished and can no longer be controlled.",
    ended: "This run ended without saying how and can no longer be controlled.",
    failed: "This run failed and can no longer be controlled.",
    crashed: "This run crashed and can no longer be controlled.",
    lost: "There has been no sign of this run for a while, so it may not respond.",
  };
  return known[state] ?? "It is unclear whether this run is still going, so it may not respond.";
}

/** A request as the command that asks the same. */
export function commandOf(run: string, { action, arguments: given, why }: Wanted): string {
  const settings = Object.entries(given).map(([name, value]) => `${name}=${value}`);
  return shellLine(["cutaway", "control", run, action, ...settings, ...(why ? ["--why", why] : [])]);
}

/** What was asked, in words. */
export function actionText(action: string, given: Record<string, unknown>): string {
  const [name, value] = Object.entries(given)[0] ?? [];
  if (action === "set" && typeof value === "number") return name === "lr_factor" ? `learning rate × ${number(value)}` : `learning rate ${number(value)}`;
  return action;
}

/** A number that was typed: above 0 and finite, or null. */
export function aboveZero(text: string): number | null {
  const value = Number(text.trim().replace(",", "."));
  return text.trim() !== "" && Number.isFinite(value) && value > 0 ? value : null;
}

/** An id of 32 hexadecimal digits. Asked twice with it, the training does it once. */
export function newId(random: (bytes: Uint8Array) => Uint8Array): string {
  return Array.from(random(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function waiting(requests: readonly RequestRow[]): RequestRow[] {
  return requests.filter(({ state }) => state === "waiting");
}
