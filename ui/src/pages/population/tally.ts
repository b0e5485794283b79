// What is counted of a selection: the bars of histograms, means of the loss, and confusions.

import type { Binned } from "../../map/binning";
import { recoded, type CodedColumn, type Column } from "../../map/columns";
import { confusionOf, type Confusion } from "../../map/confusion";
import { codeCounts, countsOf, meansOf, type BinMean, type Chosen } from "../../map/counting";
import { counted, type Counted } from "../../map/held_out";

export interface Wanted {
  /** Columns whose bars are shown. */
  histograms: readonly string[];
  /** The column that the loss is set against; empty for none. */
  against: string;
  confusion: boolean;
  /** Whether subsets were asked for; the matrix and the mean loss are of held-out samples otherwise. */
  subsets?: boolean;
  /** The column whose names are counted for the legend. */
  legend?: string;
}

export interface Bars {
  binned: Binned;
  all: Uint32Array;
  chosen: Uint32Array;
}

export interface Tallies {
  bars: ReadonlyMap<string, Bars>;
  against: { binned: Binned; means: BinMean[]; all: BinMean[]; counted: Counted } | null;
  confusion: { confusion: Confusion; names: readonly string[]; counted: Counted } | null;
  legend: Uint32Array | null;
}

// What all points have does not change with the selection.
const whole = new WeakMap<Binned, Uint32Array>();
const wholeMeans = new WeakMap<Binned, { of: object; asked: boolean; means: BinMean[] }>();
const alike = new WeakMap<CodedColumn, { prediction: CodedColumn; classes: readonly string[]; codes: [CodedColumn, CodedColumn] }>();

/** `beside` are the points whose confusions count: those of the selection without what it says of labels and predictions. */
export function tallied(wanted: Wanted, chosen: Chosen, beside: Chosen, column: (name: string) => Column | undefined, bin: (column: Column) => Binned, classes: readonly string[]): Tallies {
  const bars = new Map<string, Bars>();
  for (const name of wanted.histograms) {
    const found = column(name);
    if (found) bars.set(name, barsOf(bin(found), chosen));
  }
  return { bars, against: againstOf(wanted, column, bin, chosen), confusion: wanted.confusion ? matrixOf(wanted, column, classes, beside) : null, legend: legendOf(column(wanted.legend ?? ""), chosen) };
}

function barsOf(binned: Binned, chosen: Chosen): Bars {
  const all = whole.get(binned) ?? countsOf(binned, null);
  whole.set(binned, all);
  return { binned, all, chosen: chosen === null ? all : countsOf(binned, chosen) };
}

function againstOf(wanted: Wanted, column: (name: string) => Column | undefined, bin: (column: Column) => Binned, chosen: Chosen): Tallies["against"] {
  const [along, loss, subset] = [wanted.against, "loss", "subset"].map(column);
  if (!along || loss?.kind !== "number" || !subset || subset.kind === "number") return null;
  const binned = bin(along);
  // Along subsets, to compare them is what is asked for.
  const asked = wanted.against === "subset" || (wanted.subsets ?? false);
  const meansFor = (points: Chosen): [BinMean[], Counted] => {
    const of = counted(subset, (i) => Number.isFinite(loss.values[i]), points, asked);
    return [meansOf(binned, loss.values, of.points), of];
  };
  const [means, of] = meansFor(chosen);
  const kept = wholeMeans.get(binned);
  const all = chosen === null ? means : kept?.of === loss.values && kept.asked === asked ? kept.means : meansFor(null)[0];
  wholeMeans.set(binned, { of: loss.values, asked, means: all });
  return { binned, all, means, counted: along === subset ? { ...of, mixed: false } : of };
}

function matrixOf(wanted: Wanted, column: (name: string) => Column | undefined, classes: readonly string[], chosen: Chosen): Tallies["confusion"] {
  const [label, prediction, subset] = ["label", "prediction", "subset"].map(column);
  if (!label || !prediction || !subset || label.kind === "number" || prediction.kind === "number" || subset.kind === "number") return null;
  const [first, second] = sameCodes(label, prediction, classes);
  const of = counted(subset, (i) => first.codes[i]! >= 0 && second.codes[i]! >= 0, chosen, wanted.subsets ?? false);
  return { confusion: confusionOf(first.codes, second.codes, second.names.length, of.points), names: second.names, counted: of };
}

function sameCodes(label: CodedColumn, prediction: CodedColumn, classes: readonly string[]): [CodedColumn, CodedColumn] {
  const kept = alike.get(label);
  if (kept?.prediction === prediction && kept.classes === classes) return kept.codes;
  const first = recoded(label, classes);
  const codes: [CodedColumn, CodedColumn] = [first, recoded(prediction, first.names)];
  alike.set(label, { prediction, classes, codes });
  return codes;
}

function legendOf(column: Column | undefined, chosen: Chosen): Uint32Array | null {
  return column && column.kind !== "number" ? codeCounts(column.codes, column.names.length, chosen) : null;
}
