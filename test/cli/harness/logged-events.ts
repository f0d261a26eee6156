import type { Message } from '../../../src/cli/messages/catalogue.js';

/** A message as `--json-log` has it, without its time and its sentence. */
export type LoggedEvent = Readonly<Record<string, unknown>> & Pick<Message, 'event' | 'severity'>;

export function loggedEvent({ event, severity, fields }: Message): LoggedEvent {
  return { ...fields, event, severity };
}

/** The events of standard error under `--json-log`. @throws SyntaxError for a line that is none */
export function parseLog(stderr: string): readonly LoggedEvent[] {
  return stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LoggedEvent);
}

/** The events of a name, in order. */
export function eventsOf(
  { events }: { readonly events: readonly LoggedEvent[] },
  name: Message['event'],
): readonly LoggedEvent[] {
  return events.filter(({ event }) => event === name);
}

/** The advice, or the notices, of a code, in order. */
export function codedOf(
  { events }: { readonly events: readonly LoggedEvent[] },
  code: string,
): readonly LoggedEvent[] {
  return events.filter((event) => event['code'] === code);
}
