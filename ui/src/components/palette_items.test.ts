import { expect, it } from "vitest";
import { movedPlace, offered, type PaletteItem } from "./palette_items";

const item = (title: string, detail?: string): PaletteItem => ({ id: title, title, ...(detail ? { detail } : {}), act: () => {} });

it("keeps groups in their order and leaves out those without an answer", () => {
  const found = offered([{ title: "Pages", items: [item("Runs"), item("Compare")] }, { title: "Actions", items: [item("Copy link")] }], "co");
  expect(found.map((group) => [group.title, group.items.map((one) => one.title)])).toEqual([["Pages", ["Compare"]], ["Actions", ["Copy link"]]]);
  expect(offered([{ title: "Pages", items: [item("Runs")] }], "zzz")).toEqual([]);
});
it("does not filter again what the server found by a note or a tag", () => {
  expect(offered([{ title: "Runs", items: [item("mnist")], found: "slow" }], "slow ")[0]!.items).toHaveLength(1);
});
it("does not offer what the server found for less than is typed by now", () => {
  const tensors = { title: "Tensors", items: [item("conv1.bias"), item("conv2.weight")], found: "conv" };
  expect(offered([tensors], "conv")[0]!.items).toHaveLength(2);
  expect(offered([tensors], "conv2.w")[0]!.items.map((one) => one.title)).toEqual(["conv2.weight"]);
  expect(offered([{ ...tensors, found: "" }], "loss")).toEqual([]);
});
it("finds by the detail too", () => {
  expect(offered([{ title: "Findings", items: [item("Gradients vanish", "vanishing_gradient")] }], "vanishing_")).toHaveLength(1);
});
it("goes round", () => {
  expect([movedPlace(0, -1, 3), movedPlace(2, 1, 3), movedPlace(0, 1, 0)]).toEqual([2, 0, 0]);
});
