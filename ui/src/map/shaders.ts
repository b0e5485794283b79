// The programs that draw points. Two ways of drawing a point: a small square without blending, where points are too small for
// their shape to be seen, and a disc with a soft edge, or a triangle as large. Each with and without a way between two places.

export interface Variant {
  /** A disc or a triangle with a soft edge; else a square. */
  round: boolean;
  /** Between two places. */
  moving: boolean;
}

export const PALETTE_WIDTH = 256;
/** How far the sides of a triangle are from its middle, and its corners, where a disc of radius 1 covers as much. */
export const SIDE = 0.777;
export const CORNER = 1.555;

export function vertexShader({ round, moving }: Variant): string {
  return `#version 300 es
layout(location = 0) in float x;
layout(location = 1) in float y;
layout(location = 2) in uint code;
layout(location = 3) in float size;
layout(location = 4) in uint flag;
${moving ? "layout(location = 5) in float fromX;\nlayout(location = 6) in float fromY;\nuniform float part;" : ""}
uniform vec4 camera;
uniform vec2 diameter;
uniform vec4 dimmed;
uniform lowp sampler2D palette;
flat out lowp vec3 colour;
flat out lowp float marked;
flat out mediump float soft;
flat out lowp float triangle;
void main() {
  vec2 place = ${moving ? "mix(vec2(fromX, fromY), vec2(x, y), part)" : "vec2(x, y)"};
  lowp vec4 entry = texelFetch(palette, ivec2(int(code & 255u), int(code >> 8u)), 0);
  lowp vec3 own = entry.rgb;
  triangle = ${round ? "1.0 - entry.a" : "0.0"};
  colour = flag == 1u ? mix(own, dimmed.rgb, dimmed.a) : own;
  marked = flag == 3u ? 1.0 : 0.0;
  gl_PointSize = (diameter.x + diameter.y * size) * (flag == 3u ? 1.6 : 1.0);
  soft = min(1.0, 2.0 / gl_PointSize);
  if (triangle > 0.5) gl_PointSize *= ${CORNER};
  // What is dimmed lies below what is shown, and small points below large ones, whatever their order. What is hidden lies outside.
  float depth = (flag == 1u ? 0.5 : flag == 2u ? 0.0 : -0.5) - 0.4 * size;
  gl_Position = flag == 0u ? vec4(2.0, 2.0, 2.0, 1.0) : vec4((place - camera.xy) * camera.zw, depth, 1.0);
}`;
}

export function fragmentShader({ round }: Variant): string {
  const head = `#version 300 es
precision mediump float;
flat in lowp vec3 colour;
flat in lowp float marked;
flat in lowp float triangle;
out lowp vec4 pixel;`;
  if (!round) return `${head}\nvoid main() { pixel = vec4(colour, 1.0); }`;
  return `${head}
uniform lowp vec3 outline;
flat in mediump float soft;
void main() {
  vec2 away = gl_PointCoord - 0.5;
  float radius = 2.0 * (triangle > 0.5 ? max(away.y, 0.866 * abs(away.x) - 0.5 * away.y) * ${(CORNER / SIDE).toFixed(4)} : length(away));
  if (radius > 1.0) discard;
  float alpha = 0.9 * (1.0 - smoothstep(1.0 - soft, 1.0, radius));
  pixel = vec4((marked > 0.5 && radius > 0.6 ? outline : colour) * alpha, alpha);
}`;
}

// One triangle over the whole canvas, no buffer.
export const PICTURE_VERTEX = `#version 300 es
void main() {
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
}`;

export const PICTURE_FRAGMENT = `#version 300 es
precision mediump float;
uniform lowp sampler2D picture;
out lowp vec4 pixel;
void main() {
  pixel = texelFetch(picture, ivec2(gl_FragCoord.xy), 0);
}`;
