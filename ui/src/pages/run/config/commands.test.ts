import { expect, it } from "vitest";
import { commandsOf } from "./commands";

it("says how a run was started, what comes next and how to look at it", () => {
  const found = commandsOf({ next: "cutaway tensors mnist", command: "mnist", config: { command: ["train.py", "--lr", "0.1", "my data"] } });
  expect(found.map(({ text }) => text)).toEqual(["python train.py --lr 0.1 'my data'", "cutaway tensors mnist", "cutaway runs show mnist", "cutaway watch mnist"]);
});
it("leaves out what is not known", () => {
  expect(commandsOf({ next: "", command: "my run", config: {} }).map(({ text }) => text)).toEqual(["cutaway runs show 'my run'", "cutaway watch 'my run'"]);
});
it("starts a package by its name", () => {
  const [again] = commandsOf({ next: "", command: "x", config: { command: ["src/trainer/__main__.py", "--fast"] } });
  expect(again?.text).toBe("python -m trainer --fast");
});
