// What is live: one stream of events for everything that the page watches. Closed while the tab is hidden; where a
// stream does not get through (a proxy that buffers), the same by asking every two seconds.

import { apiAddress, get } from "./client";
import { frozen } from "./frozen";
import type { Event as LiveEvent, Events } from "./schema";

type Handler = (event: LiveEvent) => void;

const POLL_MS = 2000;
const PATIENCE_MS = 8000;

class Live {
  /** For the mark in the top bar: connecting at first, then streaming or polling; paused while hidden, or off. */
  state = $state<"off" | "connecting" | "streaming" | "polling" | "paused">("off");

  /** How often listening has begun: what changed between a page's first answer and that was told to nobody. */
  begun = $state(0);

  private watchers = new Map<string, Set<Handler>>();
  private source: EventSource | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private since = "";
  private topics = "";

  constructor() {
    document.addEventListener("visibilitychange", () => this.renew(true));
  }

  /** Calls `handler` for every event of a topic (`runs`, `run:<id>`) until the returned function is called. */
  watch(topic: string, handler: Handler): () => void {
    const handlers = this.watchers.get(topic) ?? new Set<Handler>();
    handlers.add(handler);
    this.watchers.set(topic, handlers);
    this.soon();
    return () => {
      handlers.delete(handler);
      if (handlers.size === 0) this.watchers.delete(topic);
      this.soon();
    };
  }

  // Pages change several watchers at once: the stream is opened anew once.
  private soon(): void {
    queueMicrotask(() => this.renew(false));
  }

  private renew(force: boolean): void {
    const topics = [...this.watchers.keys()].sort();
    const key = topics.join("\n");
    if (!force && key === this.topics) return;
    const woken = force && this.state === "paused" && !document.hidden;
    this.topics = key;
    this.close();
    // Nothing happens in a frozen copy.
    if (topics.length === 0 || frozen) this.state = "off";
    else if (document.hidden) this.state = "paused";
    else this.stream(topics);
    // What happened while nobody looked was not heard: every watcher looks once.
    if (woken) for (const topic of topics) this.tell({ topic, what: "state" } as LiveEvent);
  }

  private close(): void {
    this.source?.close();
    this.source = undefined;
    clearTimeout(this.timer);
  }

  private stream(topics: string[]): void {
    if (this.state === "off" || this.state === "paused") this.state = "connecting";
    const source = new EventSource(apiAddress("live", { topic: topics }));
    this.source = source;
    const giveUp = (): void => {
      if (this.source !== source) return;
      this.close();
      this.since = "";
      void this.poll(topics);
    };
    this.timer = setTimeout(giveUp, PATIENCE_MS);
    source.onopen = () => {
      clearTimeout(this.timer);
      this.state = "streaming";
      this.begun += 1;
    };
    source.onmessage = (message: MessageEvent<string>) => {
      clearTimeout(this.timer);
      this.state = "streaming";
      this.tell(JSON.parse(message.data) as LiveEvent);
    };
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) giveUp();
    };
  }

  private async poll(topics: string[]): Promise<void> {
    const asked = topics.join("\n");
    this.state = "polling";
    try {
      const found = await get<Events>("changes", { topic: topics, since: this.since });
      if (asked !== this.topics || document.hidden) return;
      if (this.since === "") this.begun += 1;
      this.since = found.since;
      for (const event of found.events) this.tell(event);
    } catch {
      // The next look may find the studio again; the pages say themselves what they could not load.
    }
    if (asked === this.topics && !document.hidden && this.source === undefined) {
      this.timer = setTimeout(() => void this.poll(topics), POLL_MS);
    }
  }

  private tell(event: LiveEvent): void {
    for (const handler of this.watchers.get(event.topic) ?? []) handler(event);
  }
}

export const live = new Live();
