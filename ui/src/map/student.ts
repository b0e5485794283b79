// How many standard errors lie on each side of a 95 % interval of a mean, as everywhere in the library: Student's.

// By degrees of freedom; beyond these the first terms of its expansion have five digits.
const FEW = [NaN, 12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139];
const Z = 1.959963984540054;

export function student95(freedom: number): number {
  if (freedom < FEW.length) return FEW[freedom] ?? NaN;
  const first = (Z ** 3 + Z) / 4;
  const second = (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96;
  const third = (3 * Z ** 7 + 19 * Z ** 5 + 17 * Z ** 3 - 15 * Z) / 384;
  const fourth = (79 * Z ** 9 + 776 * Z ** 7 + 1482 * Z ** 5 - 1920 * Z ** 3 - 945 * Z) / 92160;
  return Z + first / freedom + second / freedom ** 2 + third / freedom ** 3 + fourth / freedom ** 4;
}
