// The commands that go on from a run: how it was started, what comes next, how to look at it in a terminal.

import type { RunDetail } from "../../../api/schema";
import { shellLine } from "../../../lib/shell";

export interface NamedCommand {
  title: string;
  text: string;
}

export function commandsOf(detail: Pick<RunDetail, "next" | "command" | "config">): NamedCommand[] {
  const found: NamedCommand[] = [];
  const started = detail.config["command"];
  if (Array.isArray(started) && started.length > 0) found.push({ title: "Start it again", text: shellLine(pythonWords(started.map(String))) });
  if (detail.next) found.push({ title: "What comes next", text: detail.next });
  found.push({ title: "Everything about it", text: shellLine(["cutaway", "runs", "show", detail.command]) });
  found.push({ title: "Look for what is wrong", text: shellLine(["cutaway", "watch", detail.command]) });
  return found;
}

/** A package that was started by its name is started so again. */
function pythonWords([script = "", ...rest]: string[]): string[] {
  const named = /([^/]+)\/__main__\.py$/.exec(script);
  return named ? ["python", "-m", named[1]!, ...rest] : ["python", script, ...rest];
}
