/** A duration as databases keep it: a month has not always as many days, nor a day as many hours. */
interface Interval {
  readonly months: number;
  readonly days: number;
  readonly micros: bigint;
}

const isoForm =
  /^P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)W)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?)(\d+)(?:\.(\d{1,6}))?S)?)?$/;

/** As ISO 8601 has it: `P1Y2M3DT4H5M6.5S`. */
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

/** Without the zeros at its end. */
function withoutZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/** @returns `undefined` for what is no duration of ISO 8601 */
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
