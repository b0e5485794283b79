// Keys by name, the same on every system: `mod` is Ctrl, or Command on a Mac.

type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey"> & Partial<Pick<KeyboardEvent, "shiftKey">>;

export function keyName(event: Pressed): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.altKey) return `alt+${key}`;
  return event.ctrlKey || event.metaKey ? `mod+${event.shiftKey ? "shift+" : ""}${key}` : key;
}

/** Keys by which a text in a field is edited: there they are the field's own. */
export function isEditing(name: string): boolean {
  return /^mod\+(shift\+)?[acvxyz]$/.test(name);
}

export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "range"].includes(target.type);
}

/** How a shortcut is written for a person. */
export function shownKeys(keys: string, mac: boolean): string[] {
  const names: Record<string, string> = { mod: mac ? "⌘" : "Ctrl", shift: mac ? "⇧" : "Shift", alt: mac ? "⌥" : "Alt", Escape: "Esc", ArrowUp: "↑", ArrowDown: "↓" };
  return keys.split(/[+ ]/).map((key) => names[key] ?? (key.length === 1 ? key.toUpperCase() : key));
}
