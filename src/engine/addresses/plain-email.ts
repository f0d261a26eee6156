const quote = 0x22;
const comma = 0x2c;
/** Longer ones are for the general way to refuse. */
const maxEmailBytes = 254;

/** For each byte that may stand in a plain email its lower case, 0 for all others. */
const lowerCase = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte <= 0x20 || byte >= 0x7f || byte === quote || byte === comma) return 0;
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
});

/**
 * Writes the lookup key of an email cell to the beginning of `into`, straight from its bytes. Nearly all
 * cells are plain: visible ASCII without comma or quote, which are their own line.
 *
 * @param into has room for 254 bytes
 * @returns whether the cell is plain; any other is for `emailLine`, which comes to the same for these
 */
export function writePlainKey(
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Uint8Array,
): boolean {
  const length = end - start;
  if (length <= 0 || length > maxEmailBytes) return false;
  for (let at = 0; at < length; at += 1) {
    const lower = lowerCase[bytes[start + at] as number] as number;
    if (lower === 0) return false;
    into[at] = lower;
  }
  return true;
}

/** So many bytes a key of a plain email has at most. */
export const plainKeyBytes = maxEmailBytes;
