import { describe, expect, it } from "vitest";
import type { ClassScore } from "../../api/schema";
import { condition, decisionSentence, doubt, factsLike, hintPieces, labelsSentence, likeliest, named, nearest, overlayCommand, percent, rankWords, suggestionSentence, trustSentence, twinWords, valueOf, verdictOf } from "./words";

const score = (name: string, probability: number | null, distance: number | null = null): ClassScore => ({ name, probability, distance });

describe("verdictOf", () => {
  it("says right, wrong and nothing", () => {
    expect(verdictOf({ correct: true, prediction: "4" })).toEqual({ right: true, words: "right" });
    expect(verdictOf({ correct: false, prediction: "9" })?.words).toBe("wrong");
    expect(verdictOf({ correct: null, prediction: "9" })).toBeNull();
  });
});

describe("ranks", () => {
  it("say how many are smaller, which says nothing of those that are equal", () => {
    expect(rankWords(0.992)).toBe("higher than 99.2 % of samples");
    expect(rankWords(0.031)).toBe("higher than 3.1 % of samples");
    expect(rankWords(null)).toBe("");
  });
  it("are never rounded to all or none", () => {
    expect([percent(0.99996), percent(0.0001), percent(1), percent(0)]).toEqual(["99.9 %", "0.1 %", "100 %", "0 %"]);
  });
});

describe("classes", () => {
  const classes = [score("a", 0.1, 5), score("b", 0.6, 1), score("c", 0.2, 2), score("d", 0.05, 9), score("e", null, null)];
  it("are the likeliest, with the label in the last place where it is not among them", () => {
    expect(likeliest(classes, "d", 3).map((one) => one.name)).toEqual(["b", "c", "d"]);
    expect(likeliest(classes, "b", 2).map((one) => one.name)).toEqual(["b", "c"]);
  });
  it("are the nearest", () => expect(nearest(classes, null, 2).map((one) => one.name)).toEqual(["b", "c"]));
  it("without numbers are left out", () => expect(likeliest(classes, "e").some((one) => one.name === "e")).toBe(false));
});

describe("labelsSentence", () => {
  it("sets the label against those of the similars", () => {
    expect(labelsSentence({ labels: { "9": 19, "4": 1 } }, "4")).toBe("19 of 20 neighbours are labelled 9; only 1 shares its label, 4.");
    expect(labelsSentence({ labels: { "9": 20 } }, "4")).toBe("All 20 neighbours are labelled 9; none shares its label, 4.");
    expect(labelsSentence({ labels: { "9": 20 } }, "9")).toBe("All 20 neighbours are labelled 9, like this sample.");
    expect(labelsSentence({ labels: { "9": 2, "3": 1 } }, null)).toBe("2 of 3 neighbours are labelled 9.");
    expect(labelsSentence({ labels: {} }, "4")).toBe("");
  });
});

describe("suggestions", () => {
  it("are one sentence", () => {
    expect(suggestionSentence({ label: "4", suggested: "9", score: 0.97, reason: "19 of 20 neighbours are 9." })).toBe("Labelled 4; likely 9 (0.97): 19 of 20 neighbours are 9.");
    expect(suggestionSentence({ label: "4", suggested: null, score: null, reason: "" })).toBe("Labelled 4; that is likely wrong.");
  });
  it("say how sure they are", () => {
    expect([0.12, 0.0018, 0.000078, null].map(trustSentence)).toEqual([
      "Little evidence against it: wrong with a probability of 12 %.",
      "No evidence against it: wrong with a probability of 0.18 %.",
      "No evidence against it: wrong with a probability of under 0.1 %.",
      "It has no score: how many labels are wrong cannot be told, or nothing speaks about this one.",
    ]);
    expect([0.9, 0.38, 0.0001, null].map(doubt)).toEqual(["likely", "perhaps", "hardly", "perhaps"]);
    expect(suggestionSentence({ label: "4", suggested: "9", score: 0.0001, reason: "" })).toBe("Labelled 4; hardly 9 (0.0001).");
  });
  it("that were decided say where that is kept", () => {
    expect(decisionSentence("accepted", "9", "studio", 3)).toContain("overlay studio as 9 (3 corrections)");
    expect(decisionSentence("undone", null, "studio", 1)).toBe("Undone. The overlay studio has 1 correction.");
    expect(decisionSentence("rejected", null, null, 0)).toBe("Rejected: the label stays.");
  });
});

describe("names", () => {
  it("that turn the direction do not turn the sentence", () => {
    expect(named("plain")).toBe("plain");
    expect(named("\u202eabc")).toBe("\u2068\u202eabc\u2069");
  });
});

describe("overlayCommand", () => {
  it("names the file that the training reads", () => {
    expect(overlayCommand("runs/digits", "studio")).toBe("CUTAWAY_OVERLAY=runs/digits/overlays/studio.parquet python train.py");
    expect(overlayCommand("my run", "studio")).toBe("CUTAWAY_OVERLAY='runs/my run/overlays/studio.parquet' python train.py");
  });
});

describe("twins", () => {
  it("in training are leakage, in words", () => {
    expect(twinWords({ kind: "leakage", subset: "training" }, "test")).toBe("in training too: leakage");
    expect(twinWords({ kind: "leakage", subset: "test" }, "training")).toBe("in test too: leakage");
    expect(twinWords({ kind: "duplicate", subset: "test" }, "test")).toBe("the same again in test");
  });
});

describe("facts", () => {
  it("are numbers, words, yes and no", () => expect([0.5, "red", true, null].map((value) => valueOf({ value }))).toEqual(["0.5", "red", "yes", "–"]));
  it("are found by name and value", () => {
    const facts = [{ name: "Brightness", value: 0.5, rank: null }, { name: "colour", value: "red", rank: null }];
    expect(factsLike(facts, "BRIGHT")).toHaveLength(1);
    expect(factsLike(facts, "red")).toHaveLength(1);
    expect(factsLike(facts, " ")).toHaveLength(2);
  });
});

describe("condition", () => {
  it("quotes whatever the value is", () => expect(condition("label", "!=", "a, b")).toBe('label != "a, b"'));
});

describe("hintPieces", () => {
  it("take commands out of backticks and from behind Run:", () => {
    expect(hintPieces("Give it: `cutaway evaluate . m.onnx`, then look again.")).toEqual([
      { text: "Give it: ", command: false },
      { text: "cutaway evaluate . m.onnx", command: true },
      { text: ", then look again.", command: false },
    ]);
    expect(hintPieces("It is missing. Run: pip install 'cutaway[torch]'").at(-1)).toEqual({ text: "pip install 'cutaway[torch]'", command: true });
    expect(hintPieces("Look at the log.")).toEqual([{ text: "Look at the log.", command: false }]);
    expect(hintPieces("")).toEqual([]);
  });
});
