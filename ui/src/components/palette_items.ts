// What the command palette offers: in groups, the best answers to what was typed first. Knows no DOM and no server.

import { ranked } from "./fuzzy";

export interface PaletteItem {
  /** Unique in the list. */
  id: string;
  title: string;
  /** Beside it, fainter. */
  detail?: string;
  act: () => void;
}

export interface PaletteGroup {
  title: string;
  items: PaletteItem[];
  /** What the server was asked to find these by. While more is typed, only those that match it too are shown. */
  found?: string;
}

// As many as a run has pages.
const MOST = 10;

/** The groups with what answers in them; a group without an answer is left out. */
export function offered(groups: readonly PaletteGroup[], typed: string): PaletteGroup[] {
  return groups
    .map((group) => ({ ...group, items: group.found === typed.trim() ? group.items.slice(0, MOST) : ranked(group.items, typed, (item) => `${item.title} ${item.detail ?? ""}`, MOST) }))
    .filter((group) => group.items.length > 0);
}

/** The place after a key: round from the end to the start and back. */
export function movedPlace(place: number, by: number, count: number): number {
  return count === 0 ? 0 : (place + by + count) % count;
}
