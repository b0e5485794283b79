// Shaders made into programs, and a picture of pixels put on the canvas. What every WebGL page needs, and no more.

import { fragmentShader, PICTURE_FRAGMENT, PICTURE_VERTEX, vertexShader, type Variant } from "./shaders";

export interface Program {
  program: WebGLProgram;
  uniform(name: string): WebGLUniformLocation | null;
}

export class Programs {
  private readonly made = new Map<string, Program>();

  constructor(private readonly gl: WebGL2RenderingContext) {}

  /** The program that draws points in this way; made when it is first asked for. */
  points(variant: Variant): Program {
    return this.get(`points ${variant.round} ${variant.moving}`, () => [vertexShader(variant), fragmentShader(variant)]);
  }

  picture(): Program {
    return this.get("picture", () => [PICTURE_VERTEX, PICTURE_FRAGMENT]);
  }

  dispose(): void {
    for (const { program } of this.made.values()) this.gl.deleteProgram(program);
    this.made.clear();
  }

  private get(key: string, sources: () => [vertex: string, fragment: string]): Program {
    const known = this.made.get(key);
    if (known) return known;
    const program = linked(this.gl, ...sources());
    const places = new Map<string, WebGLUniformLocation | null>();
    const uniform = (name: string): WebGLUniformLocation | null => {
      if (!places.has(name)) places.set(name, this.gl.getUniformLocation(program, name));
      return places.get(name)!;
    };
    this.made.set(key, { program, uniform });
    return { program, uniform };
  }
}

/** Pixels of the size of the canvas, kept between pictures, and shown as they are. */
export class Picture {
  pixels = new Uint32Array(0);
  private readonly texture: WebGLTexture;
  private width = 0;
  private height = 0;

  constructor(private readonly gl: WebGL2RenderingContext) {
    this.texture = gl.createTexture();
  }

  resize(width: number, height: number): void {
    if (width === this.width && height === this.height) return;
    this.width = width;
    this.height = height;
    this.pixels = new Uint32Array(width * height);
    const gl = this.gl;
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
    nearestPixels(gl);
  }

  show(program: Program): void {
    const gl = this.gl;
    gl.useProgram(program.program);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, this.width, this.height, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(this.pixels.buffer));
    gl.disable(gl.BLEND);
    gl.disable(gl.DEPTH_TEST);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  dispose(): void {
    this.gl.deleteTexture(this.texture);
  }
}

/** The texture that is bound is read pixel by pixel. */
export function nearestPixels(gl: WebGL2RenderingContext): void {
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
}

/** Whether a context is drawn by the processor, because there is no graphics card or none that may be used. */
export function isSoftware(gl: WebGL2RenderingContext): boolean {
  const about = gl.getExtension("WEBGL_debug_renderer_info");
  const names = [gl.getParameter(gl.RENDERER), about ? gl.getParameter(about.UNMASKED_RENDERER_WEBGL) : ""];
  return isSoftwareName(names.join(" "));
}

export function isSoftwareName(name: string): boolean {
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

function linked(gl: WebGL2RenderingContext, vertex: string, fragment: string): WebGLProgram {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
    const shader = gl.createShader(kind)!;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.deleteShader(shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(`The map's shaders were refused: ${gl.getProgramInfoLog(program)}`);
  }
  return program;
}
