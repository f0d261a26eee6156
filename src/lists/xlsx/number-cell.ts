import { parseCivil } from '../rows/values/civil-time.js';
import { JsonText } from '../rows/values/json-text.js';
import { integerForm, type Kind } from '../rows/values/kinds.js';
import { serialOfMs } from './number-format.js';

/** A number in a cell, and the format that shows what it stands for. */
interface NumberCell {
  readonly number: number;
  readonly code: string | undefined;
}

const dateCode = 'yyyy\\-mm\\-dd';
const timeCode = 'hh:mm:ss';
/** Digits that programs for workbooks keep of a number. */
const mostDigits = 15;

/** The number that a value of a kind is in a workbook; `undefined` where it has to be text. */
export function numberCell(kind: Kind | undefined, value: unknown): NumberCell | undefined {
  switch (kind?.name) {
    case 'decimal':
      return decimalCell(String(value));
    case 'date': {
      const days = parseCivil(kind, value);
      return serialCell(typeof days === 'number' ? days * 86_400_000 : undefined, dateCode);
    }
    case 'timestamp': {
      const ms = wholeMs(parseCivil(kind, value));
      return serialCell(
        ms,
        `${dateCode} ${timeCode}${ms !== undefined && ms % 1000 !== 0 ? '.000' : ''}`,
      );
    }
    case 'time': {
      const ms = wholeMs(parseCivil(kind, value));
      if (ms === undefined) return undefined;
      return { number: ms / 86_400_000, code: ms % 1000 === 0 ? timeCode : `${timeCode}.000` };
    }
    default:
      return plainNumber(value);
  }
}

/** Whether a workbook has numbers, dates or texts for values of a kind. */
export function isCellKind(kind: Kind, value?: unknown): boolean {
  const isNumber =
    integerForm(kind.name) !== undefined ||
    ['float32', 'float64', 'decimal', 'date', 'time', 'timestamp'].includes(kind.name);
  if (!isNumber) return kind.name === 'text' || kind.name === 'boolean';
  return value === undefined || numberCell(kind, value) !== undefined;
}

/** The zeros at a decimal's end are shown by its format. */
function decimalCell(text: string): NumberCell | undefined {
  const parts = /^-?(\d+)(?:\.(\d+))?$/.exec(text);
  if (!parts) return undefined;
  const [, whole = '', fraction = ''] = parts;
  if ((whole + fraction).replace(/^0+/, '').length > mostDigits) return undefined;
  return {
    number: Number(text),
    code: fraction === '' ? undefined : `0.${'0'.repeat(fraction.length)}`,
  };
}

function wholeMs(nanos: bigint | number | undefined): number | undefined {
  if (typeof nanos !== 'bigint' || nanos % 1_000_000n !== 0n) return undefined;
  return Number(nanos / 1_000_000n);
}

function serialCell(ms: number | undefined, code: string): NumberCell | undefined {
  const number = ms === undefined ? undefined : serialOfMs(ms);
  return number === undefined ? undefined : { number, code };
}

function plainNumber(value: unknown): NumberCell | undefined {
  // A zero at the end is shown, as that of a decimal is.
  if (value instanceof JsonText)
    return value.number === undefined ? undefined : decimalCell(value.text);
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? { number, code: undefined } : undefined;
  }
  return typeof value === 'number' && Number.isFinite(value)
    ? { number: value, code: undefined }
    : undefined;
}
