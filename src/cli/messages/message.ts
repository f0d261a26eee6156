import { catalogue, type EventDefinition, type Severity } from './catalogue.js';
import type { ReadOnly } from '../../platform/text/sentence.js';

type Catalogue = typeof catalogue;
export type EventName = keyof Catalogue;
export type FieldsOf<Name extends EventName> =
  Catalogue[Name] extends EventDefinition<infer Fields> ? ReadOnly<Fields> : never;

export interface Message {
  readonly event: EventName;
  readonly severity: Severity;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function message<Name extends EventName>(
  event: Name,
  fields: FieldsOf<Name>,
  severity: Severity = catalogue[event].severity,
): Message {
  return { event, severity, fields: fields as Readonly<Record<string, unknown>> };
}

export function sentencesOf({ event, fields }: Omit<Message, 'severity'>): readonly string[] {
  const { sentence } = catalogue[event] as EventDefinition<unknown>;
  const lines = sentence(fields);
  return typeof lines === 'string' ? [lines] : lines;
}

/** Text that stands below a message, or before it at a terminal. */
export function formOf({ event, fields }: Message): {
  readonly copied: string | undefined;
  readonly mark: string;
} {
  const { copied, mark = '' } = catalogue[event] as EventDefinition<unknown>;
  return { copied: copied?.(fields), mark };
}
