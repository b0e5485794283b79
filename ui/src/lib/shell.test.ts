import { expect, it } from "vitest";
import { isCommand, shellLine } from "./shell";

it.each([
  [["cutaway", "control", "runs/mnist", "set", "lr=0.1"], "cutaway control runs/mnist set lr=0.1"],
  [["cutaway", "runs", "show", "my run"], "cutaway runs show 'my run'"],
  [["--why", "it's NaN; rm -rf $HOME"], `--why 'it'\\''s NaN; rm -rf $HOME'`],
  [["a", ""], "a ''"],
  [["cutaway", "watch", "~/runs/my run"], "cutaway watch ~/'runs/my run'"],
])("writes %j as %s", (words, line) => {
  expect(shellLine(words)).toBe(line);
});
it("tells a command from a sentence", () => {
  expect(isCommand("cutaway tensors mnist")).toBe(true);
  expect(isCommand("Hook(out_dir='mnist', resume=True) continues it")).toBe(false);
});
