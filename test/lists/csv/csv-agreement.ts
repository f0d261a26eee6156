import { isSluiceError } from '../../../src/platform/errors/is-sluice-error.js';
import { isRefusedOnPurpose, referenceRows, referenceText } from './csv-reference.js';
import { scanCsv } from './scan-csv.js';

/** Everything the scanner says of a file, or that it refuses it. */
export function scanned(pieces: readonly Buffer[], hasHeader: boolean): unknown {
  try {
    const { chunks: _, ...all } = scanCsv(pieces, { hasHeader });
    return all;
  } catch (error) {
    if (isSluiceError(error, 'input_malformed')) return 'refused';
    throw error;
  }
}

/** The same, built of what csv-parse says. */
export function expected(bytes: Buffer, hasHeader: boolean): unknown {
  const reference = referenceRows(bytes);
  if (reference === 'refused' || isRefusedOnPurpose(bytes, reference)) return 'refused';
  const [first = []] = reference;
  const data = hasHeader ? reference.slice(1) : reference;
  const rows = data.map((cells) =>
    first.map((_, column) => {
      const cell = cells[column];
      return cell === undefined ? undefined : referenceText(cell);
    }),
  );
  return {
    names: first.map((name, column) =>
      hasHeader ? Buffer.from(name, 'latin1').toString() : `#${String(column + 1)}`,
    ),
    rows,
    wanted: rows,
    missing: data.map((cells) => first.length - cells.length),
    bytes,
  };
}
