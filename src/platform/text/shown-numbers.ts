/** A whole number with grouped thousands; remaining credits may have a half. */
export function grouped(value: number): string {
  // Without toLocaleString(): its first call takes a tenth of the shortest run.
  const [whole = '', part] = String(Math.round(value * 10) / 10).split('.');
  let text = whole;
  const digitsFrom = value < 0 ? 1 : 0;
  for (let end = whole.length - 3; end > digitsFrom; end -= 3) {
    text = `${text.slice(0, end)},${text.slice(end)}`;
  }
  return part === undefined ? text : `${text}.${part}`;
}

/** `1 batch`, `2 batches`. */
export function counted(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  return `${grouped(count)} ${noun}${/(?:ch|s)$/.test(noun) ? 'es' : 's'}`;
}

export function rate(perSecond: number): string {
  if (perSecond >= 10) return `${grouped(Math.round(perSecond))}/s`;
  return `${perSecond.toFixed(1)}/s`;
}

/** A moment in UTC, for people. */
export function moment(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** When something began, in UTC, for people: `03:15 UTC`, with the day where it is another. */
export function startText(startedAt: string, now = new Date()): string {
  const [day, time = ''] = new Date(startedAt).toISOString().split('T');
  const isToday = now.toISOString().startsWith(day ?? '');
  return `${isToday ? '' : `${day} `}${time.slice(0, 5)} UTC`;
}

/** A duration for people: `45 s`, `2 min 10 s`, `3 h 05 min`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 600 && whole % 60 > 0) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 3600) return `${Math.round(whole / 60)} min`;
  const minutes = Math.round(whole / 60);
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}
export function timeTaken(seconds: number): string {
  return seconds < 1 ? 'under 1 s' : duration(seconds);
}

interface CreditCounts {
  readonly email: number;
  readonly phone: number;
}

/** `3,000 email and 20 phone credits`; `undefined` for none. */
export function describeCredits({ email, phone }: CreditCounts): string | undefined {
  if (email > 0 && phone > 0) {
    return `${grouped(email)} email and ${counted(phone, 'phone credit')}`;
  }
  if (email === 0 && phone === 0) return undefined;
  return email > 0 ? counted(email, 'email credit') : counted(phone, 'phone credit');
}

/** The cost of the runs that this one took over: its own credits do not include it. */
export function earlierCreditsSentence(credits: CreditCounts): string {
  return `earlier runs of this list cost ${describeCredits(credits) ?? 'nothing'} more`;
}
