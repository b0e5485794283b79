// Whether an element is near what the person sees. One observer for all: a run may have thousands of charts.

const MARGIN = "600px 0px";
const callbacks = new WeakMap<Element, (seen: boolean) => void>();
let observer: IntersectionObserver | undefined;

export function watchView(element: Element, seen: (seen: boolean) => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const entry of entries) callbacks.get(entry.target)?.(entry.isIntersecting);
    },
    { rootMargin: MARGIN },
  );
  callbacks.set(element, seen);
  observer.observe(element);
  return () => {
    callbacks.delete(element);
    observer?.unobserve(element);
  };
}
