import type { Kind } from './kinds.js';

/* Dates and times as text and as numbers: days and nanoseconds, which can hold everything that a source prints. */

const dayNanos = 86_400_000_000_000n;
const dayMs = 86_400_000;

const dateForm = /^(\d{4})-(\d\d)-(\d\d)$/;
const timeForm = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?$/;
const stampForm = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?))?$/;
const zoneForm = /(?:Z|([+-])(\d\d)(?::?(\d\d))?)$/;

/** Days since 1970; `undefined` for an invalid date, or one outside the years 1 to 9999. */
export function parseDate(text: string): number | undefined {
  const parts = dateForm.exec(text);
  if (!parts) return undefined;
  const [, year = '', month = '', day = ''] = parts;
  const ms = Date.parse(`${text}T00:00:00Z`);
  if (Number.isNaN(ms) || year === '0000') return undefined;
  // `Date` takes an invalid day of a month for one of the next.
  const date = new Date(ms);
  const isSame = date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
  return isSame ? ms / dayMs : undefined;
}

/** Nanoseconds since midnight; `undefined` for an invalid time. */
export function parseTime(text: string): bigint | undefined {
  const parts = timeForm.exec(text);
  if (!parts) return undefined;
  const [, hour, minute, second = '0', fraction = ''] = parts;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  return BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
}

/** Nanoseconds since 1970 in local time; a date counts as its midnight. */
export function parseTimestamp(text: string): bigint | undefined {
  const parts = stampForm.exec(text);
  if (!parts) return undefined;
  const days = parseDate(parts[1] ?? '');
  const nanos = parts[2] === undefined ? 0n : parseTime(parts[2]);
  if (days === undefined || nanos === undefined) return undefined;
  return BigInt(days) * dayNanos + nanos;
}

/** Nanoseconds since 1970 of a moment: a `Date`, or text with its zone, by default UTC. */
function parseMoment(value: unknown): bigint | undefined {
  if (value instanceof Date) {
    const ms = value.getTime();
    return Number.isNaN(ms) ? undefined : BigInt(ms) * 1_000_000n;
  }
  const text = String(value);
  const [zone = '', sign, hours = '0', minutes = '0'] =
    (text.includes(':') && zoneForm.exec(text)) || [];
  const local = parseTimestamp(text.slice(0, text.length - zone.length));
  if (local === undefined || sign === undefined) return local;
  const offset = BigInt(Number(hours) * 60 + Number(minutes)) * 60_000_000_000n;
  return sign === '-' ? local + offset : local - offset;
}

/** A value of a date or time kind as a number of days or nanoseconds. */
export function parseCivil(kind: Kind, value: unknown): bigint | number | undefined {
  switch (kind.name) {
    case 'date':
      return typeof value === 'string' ? parseDate(value) : undefined;
    case 'time':
      return typeof value === 'string' ? parseTime(value) : undefined;
    case 'timestamp':
      return typeof value === 'string' ? parseTimestamp(value) : undefined;
    default:
      return parseMoment(value);
  }
}

export function printDays(days: number): string {
  const date = new Date(days * dayMs);
  return Number.isNaN(date.getTime()) ? String(days) : (date.toISOString().split('T', 1)[0] ?? '');
}

/** @param nanos since midnight */
export function printTime(nanos: bigint): string {
  const seconds = Number(nanos / 1_000_000_000n);
  const two = (count: number): string => String(count).padStart(2, '0');
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const fraction = String(nanos % 1_000_000_000n).padStart(9, '0');
  // In groups of three digits, like units.
  const digits = fraction.replace(/(?:000){1,3}$/, '');
  return `${clock.map(two).join(':')}${digits === '' ? '' : `.${digits}`}`;
}

/** @param nanos since 1970, without zone */
export function printTimestamp(nanos: bigint): string {
  const rest = ((nanos % dayNanos) + dayNanos) % dayNanos;
  return `${printDays(Number((nanos - rest) / dayNanos))}T${printTime(rest)}`;
}

/** A duration as databases store it: months and days vary in length. */
interface Interval {
  readonly months: number;
  readonly days: number;
  readonly micros: bigint;
}

const isoForm =
  /^P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)W)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?)(\d+)(?:\.(\d{1,6}))?S)?)?$/;

/** In ISO 8601: `P1Y2M3DT4H5M6.5S`. */
export function printInterval({ months, days, micros }: Interval): string {
  const part = (count: number | bigint, letter: string): string =>
    Number(count) === 0 ? '' : `${count}${letter}`;
  const year = Math.trunc(months / 12);
  const day = part(year, 'Y') + part(months % 12, 'M') + part(days, 'D');
  const second = micros % 60_000_000n;
  const fraction = String(second < 0n ? -second : second).padStart(7, '0');
  const digits = withoutZeros(fraction.slice(-6));
  const seconds =
    second === 0n
      ? ''
      : `${second < 0n ? '-' : ''}${fraction.slice(0, -6)}${digits && `.${digits}`}S`;
  const time =
    part(micros / 3_600_000_000n, 'H') + part((micros / 60_000_000n) % 60n, 'M') + seconds;
  return day + time === '' ? 'PT0S' : `P${day}${time && `T${time}`}`;
}

function withoutZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/** @returns `undefined` for anything but an ISO 8601 duration */
export function parseInterval(text: string): Interval | undefined {
  const parts = isoForm.exec(text);
  if (!parts || /[PT]$/.test(text)) return undefined;
  const [year = 0, month = 0, week = 0, day = 0, hour = 0, minute = 0] = parts
    .slice(1, 7)
    .map((count: string | undefined) => Number(count ?? 0));
  const fraction = BigInt((parts[9] ?? '').padEnd(6, '0'));
  const second = BigInt(parts[8] ?? 0) * 1_000_000n + fraction;
  return {
    months: year * 12 + month,
    days: week * 7 + day,
    micros:
      BigInt(hour) * 3_600_000_000n +
      BigInt(minute) * 60_000_000n +
      (parts[7] === '-' ? -second : second),
  };
}
