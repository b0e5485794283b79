import { describe, expect, test } from "vitest";
import { kindCounts, KIND_NAMES, kindOf } from "./kinds";
import { shownIn, subsetsOf, testOf } from "./showing";

describe("where the samples of an insight are seen", () => {
  test("its conditions, within the subsets that were counted", () => {
    expect(shownIn({ where: ["label = 8"], subset: "validation and test", samples: [] }, 1)).toEqual({ evaluation: 1, where: ["label = 8", "subset in validation,test"] });
    expect(shownIn({ where: ["label = 8"], subset: "validation", samples: [] }, 1)).toEqual({ evaluation: 1, where: ["label = 8", "subset = validation"] });
  });
  test("a condition on the subset is not said twice, and odd words are no subsets", () => {
    expect(shownIn({ where: ["subset = validation"], subset: "validation", samples: [] }, 0)).toEqual({ evaluation: 0, where: ["subset = validation"] });
    expect(shownIn({ where: ["label = 8"], subset: "the <b> subset", samples: [] }, 0)).toEqual({ evaluation: 0, where: ["label = 8"] });
  });
  test("without conditions its samples by name, quoted where they hold a comma", () => {
    expect(shownIn({ where: [], subset: "test", samples: ["test/1", 'test/a,"b"'] }, 2)).toEqual({ evaluation: 2, where: ['sample in test/1,"test/a,""b"""'] });
    expect(shownIn({ where: [], subset: "", samples: [] }, 2)).toEqual({ evaluation: 2, where: [] });
  });
  test("lists of subsets", () => {
    expect(subsetsOf("training, test, validation")).toEqual(["training", "test", "validation"]);
    expect(subsetsOf("")).toEqual([]);
  });
});

describe("whether it is a test", () => {
  const tests = [{ line: "accuracy where label = 8 at least 0.9", name: "eights" }, { line: "loss at most 1", name: "" }];
  test("the same line, by its name or itself", () => {
    expect(testOf({ test: "accuracy where label = 8 at least 0.9" }, tests)).toBe("eights");
    expect(testOf({ test: "loss at most 1" }, tests)).toBe("loss at most 1");
    expect(testOf({ test: "loss at most 2" }, tests)).toBeNull();
    expect(testOf({ test: null }, tests)).toBeNull();
  });
});

describe("kinds", () => {
  test("all have words, and an unknown one keeps its name", () => {
    for (const name of KIND_NAMES) expect(kindOf(name).title).not.toBe(name);
    expect(kindOf("new-kind").title).toBe("new-kind");
  });
  test("are counted in their order", () => {
    expect(kindCounts([{ kind: "b" }, { kind: "a" }, { kind: "b" }])).toEqual([{ kind: "b", count: 2 }, { kind: "a", count: 1 }]);
  });
});
