// Names that are longer than their room lose their middle: they differ at their ends.

/** A text of at most `most` letters. Letters of two halves stay whole. */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const letters = Array.from(text);
  if (letters.length <= most) return text;
  const end = Math.ceil((most - 1) * 0.6);
  const start = Math.max(0, most - 1 - end);
  return `${letters.slice(0, start).join("")}…${end > 0 ? letters.slice(-end).join("") : ""}`;
}

/**
 * For `use:middle={name}` on an element of class `cut`: shows as much of a name as there is room for. Who listens hears
 * the whole name.
 */
export function middle(element: HTMLElement, name: string): { update: (name: string) => void; destroy: () => void } {
  let whole = name;
  function show(): void {
    element.textContent = whole;
    if (element.clientWidth === 0 || element.scrollWidth <= element.clientWidth) return;
    const seen = document.createElement("span");
    const heard = document.createElement("span");
    seen.ariaHidden = "true";
    heard.className = "visually-hidden";
    let most = Math.floor((whole.length * element.clientWidth) / element.scrollWidth);
    element.replaceChildren(seen);
    do seen.textContent = cutMiddle(whole, most);
    while (element.scrollWidth > element.clientWidth && --most > 3);
    heard.textContent = whole;
    element.append(heard);
  }
  const observer = new ResizeObserver(show);
  element.textContent = whole;
  observer.observe(element);
  return {
    update(name) {
      whole = name;
      show();
    },
    destroy: () => observer.disconnect(),
  };
}
