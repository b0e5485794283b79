import { describe, expect, it } from "vitest";
import { heatShape } from "./heat_shape";

const array = (values: number[], shape: number[]) => ({ dtype: "float32", shape, data: btoa(String.fromCharCode(...new Uint8Array(new Float32Array(values).buffer))) });
const image = (height: number, width: number) => ({ type: "Image", error: "", data: { image: { dtype: "uint8", shape: [height, width, 1], data: "", scale: [0, 255] } } });

describe("heatShape", () => {
  it("lays a map over the picture of its own size, or of its proportions", () => {
    const map = array([1, 2, 3, 4], [2, 2]);
    expect(heatShape(map, [image(8, 8), image(2, 2)])).toMatchObject({ how: "picture", picture: { shape: [2, 2, 1] } });
    expect(heatShape(map, [image(8, 8)])).toMatchObject({ picture: { shape: [8, 8, 1] } });
    expect(heatShape(map, [image(8, 20)])).toMatchObject({ picture: null });
  });

  it("shows of a video the frame where the map is strongest, and says so", () => {
    const found = heatShape(array([0, 1, 5, -6], [2, 1, 2]), []);
    expect(found).toMatchObject({ how: "picture", values: [5, -6], note: "Place 2 of 2, where the map is strongest." });
  });

  it("goes behind tokens, under a line, or stands alone", () => {
    const map = array([1, 2], [2]);
    const text = (tokens: string[]) => ({ type: "Text", error: "", data: { tokens, heatmap: null } });
    expect(heatShape(map, [text(["a", "b"])]).how).toBe("tokens");
    expect(heatShape(map, [text(["a"])]).how).toBe("strip");
    expect(heatShape(map, [{ type: "Graph", error: "", data: { data: map } }]).how).toBe("line");
    expect(heatShape(map, [{ ...text(["a", "b"]), error: "failed" }]).how).toBe("strip");
  });
});
