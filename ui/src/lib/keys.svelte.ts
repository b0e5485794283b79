// Keyboard shortcuts: who wants which keys now. Typing in a field is never a shortcut.

import { untrack } from "svelte";
import { isEditing, isTyping, keyName } from "./key_names";

export interface Shortcut {
  keys: string;
  title: string;
  act: () => void;
}

const SEQUENCE_MS = 900;

class Keys {
  /** Those in force, for the help and the palette. */
  shortcuts = $state.raw<Shortcut[]>([]);

  private first = "";
  private at = 0;

  /** `keys` is a key (`d`, `?`, `Escape`), one with its modifier (`mod+k`), or two in a row (`g r`). */
  on(keys: string, title: string, act: () => void): () => void {
    const mine: Shortcut = { keys, title, act };
    // Asked for inside an effect, which must not begin anew with every shortcut of somebody else.
    this.shortcuts = [...untrack(() => this.shortcuts), mine];
    return () => {
      this.shortcuts = this.shortcuts.filter((one) => one !== mine);
    };
  }

  pressed(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing) return;
    const name = keyName(event);
    // Typing is typing, and a dialog has the keyboard for itself.
    const typing = isTyping(event.target);
    if ((typing || document.querySelector("dialog[open]")) && (!name.startsWith("mod+") || (typing && isEditing(name)))) return;
    const sequence = event.timeStamp - this.at < SEQUENCE_MS ? `${this.first} ${name}` : name;
    // The last that asked for a key has it: a dialog before the page under it.
    const found = this.find(sequence) ?? this.find(name);
    this.first = name;
    this.at = event.timeStamp;
    if (!found) return;
    event.preventDefault();
    found.act();
  }

  private find(keys: string): Shortcut | undefined {
    return this.shortcuts.findLast((one) => one.keys === keys);
  }
}

export const keys = new Keys();
