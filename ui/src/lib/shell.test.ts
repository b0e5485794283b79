import { expect, it } from "vitest";
import { isCommand, onEvaluation, shellLine } from "./shell";

it.each([
  [["cutaway", "control", "runs/mnist", "set", "lr=0.1"], "cutaway control runs/mnist set lr=0.1"],
  [["cutaway", "runs", "show", "my run"], "cutaway runs show 'my run'"],
  [["--why", "it's NaN; rm -rf $HOME"], `--why 'it'\\''s NaN; rm -rf $HOME'`],
  [["a", ""], "a ''"],
  [["cutaway", "watch", "~/runs/my run"], "cutaway watch ~/'runs/my run'"],
])("writes %j as %s", (words, line) => {
  expect(shellLine(words)).toBe(line);
});
it("names an evaluation that is not the last", () => {
  expect(shellLine(["cutaway", "analyze", "runs/a", "map", ...onEvaluation(0)])).toBe("cutaway analyze runs/a map --evaluation 0");
  expect(shellLine(["cutaway", "analyze", "runs/a", "map", ...onEvaluation(null)])).toBe("cutaway analyze runs/a map");
});
it("tells a command from a sentence", () => {
  expect(isCommand("cutaway tensors mnist")).toBe(true);
  expect(isCommand("Hook(out_dir='mnist', resume=True) continues it")).toBe(false);
});
