const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * The mappings of a source map without those of some lines, which are no longer in the file.
 *
 * @param mappings as in a source map of version 3: a line's segments between semicolons; in each the column, and by how
 *   much source, line and column differ from those of the segment before
 * @param dropped the numbers of these lines, from 0
 */
export function withoutLines(mappings, dropped) {
  const kept = [];
  const at = [0, 0, 0, 0];
  const written = [0, 0, 0, 0];
  for (const [number, line] of mappings.split(';').entries()) {
    at[0] = 0;
    written[0] = 0;
    const segments =
      line === ''
        ? []
        : line.split(',').map((segment) => {
            const differences = decoded(segment);
            for (const [field, difference] of differences.entries()) at[field] += difference;
            return at.slice(0, differences.length);
          });
    if (dropped.has(number)) continue;
    const texts = segments.map((values) =>
      values
        .map((value, field) => {
          const difference = value - written[field];
          written[field] = value;
          return encoded(difference);
        })
        .join(''),
    );
    kept.push(texts.join(','));
  }
  return kept.join(';');
}

/** Numbers in base 64: five bits a digit, the lowest first, a sixth for those that go on; the first bit is the sign. */
function decoded(segment) {
  const numbers = [];
  let value = 0;
  let shift = 0;
  for (const digit of segment) {
    const bits = digits.indexOf(digit);
    value += (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}

function encoded(number) {
  let rest = number < 0 ? (-number << 1) | 1 : number << 1;
  let text = '';
  do {
    const bits = rest & 31;
    rest >>= 5;
    text += digits[rest > 0 ? bits | 32 : bits];
  } while (rest > 0);
  return text;
}
