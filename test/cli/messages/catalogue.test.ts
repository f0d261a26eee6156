import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectPage } from '../../docs/made/expect-page.js';
import { commands, flagNaming } from '../../../src/cli/commands.js';
import {
  catalogue,
  type EventName,
  type Message,
  sentencesOf,
} from '../../../src/cli/messages/catalogue.js';
import { errorFields } from '../../../src/cli/messages/describe-error.js';
import { Logger } from '../../../src/cli/terminal/logger.js';
import { findColumn } from '../../../src/engine/columns/column-lookup.js';
import { fileSource } from '../../../src/lists/files/file-source.js';
import { checkOptions } from '../../../src/platform/check-options.js';
import { notices } from '../../../src/platform/text/notices.js';
import { nameOptionsBy } from '../../../src/platform/text/sentence.js';
import { adviceCatalogue } from '../../../src/report/sentences/advice-catalogue.js';
import { runSentences } from '../../../src/report/sentences/run-sentences.js';
import { TestClock } from '../../../src/testing/test-clock.js';
import { formsOf, hostileNames } from '../../platform/text/hostile-names.js';
import { rejection } from '../../lists/sql/harness/rejection.js';
import { withFolder } from '../../service/with-service.js';
import { parseLog } from '../harness/logged-events.js';
import { readAll } from '../harness/read-all.js';

const events = Object.keys(catalogue) as EventName[];

interface Definition {
  readonly when: string;
  readonly example: object;
  readonly variants?: readonly object[];
}
type Sentence = (fields: object) => string | readonly string[];
type EventDefinition = Definition & { readonly severity: Message['severity'] };
const definitions: Readonly<Record<EventName, EventDefinition>> = catalogue;

/** A section of the reference: when it is said, its fields, and how it reads. */
function entry(title: string, definition: Definition, sentence: Sentence): string {
  const { when, example, variants = [] } = definition;
  const fields = Object.keys(example).map((field) => `\`${field}\``);
  const sentences = [{}, ...variants].flatMap((variant) => sentence({ ...example, ...variant }));
  return [
    title,
    '',
    `${when}${fields.length > 0 ? ` Fields: ${fields.join(', ')}.` : ''}`,
    '',
    ...(sentences.length > 0 ? ['```text', ...sentences, '```', ''] : []),
  ].join('\n');
}

/** Fields whose values are people's names: of columns, files, sheets, batches; or their cells. */
const named = new Set(
  (
    'column title input output sheet name path paths names others examples cells state stem history ' +
    'place service program submitted cell command host list sheet sheets table'
  ).split(' '),
);

/** The example of an event, in which every name is another. */
function renamed(value: unknown, name: string, key = ''): unknown {
  if (typeof value === 'string') return named.has(key) ? name : value;
  if (Array.isArray(value)) return value.map((each: unknown) => renamed(each, name, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([each, inner]) => [each, renamed(inner, name, each)]),
  );
}

function messageNamed(event: EventName, name: string): Message {
  const { severity, example } = definitions[event];
  return { event, severity, fields: renamed(example, name) as Message['fields'] };
}

function logged(message: Message, options: { isJson?: boolean; isTerminal?: boolean }): string {
  const out = Object.assign(new PassThrough(), { columns: 1_000_000 });
  new Logger(out, { clock: new TestClock(), ...options }).log(message);
  return readAll(out);
}

describe('the catalogue of events', () => {
  it('is shown whole in the reference', async () => {
    onTestFinished(nameOptionsBy(flagNaming(commands)));
    const ofEvents = events.map((event) => {
      const { severity, ...definition } = definitions[event];
      const asked = `Severity \`${severity}\`, since 0.1.0.`;
      return entry(
        `## ${event}`,
        { ...definition, when: `${definition.when} ${asked}` },
        (fields) => sentencesOf({ event, fields: fields as Message['fields'] }),
      );
    });
    const ofNotices = Object.entries(notices).map(([code, { isWarning, ...definition }]) => {
      const when = `${definition.when}${isWarning ? ' A warning.' : ''}`;
      return entry(`### ${code}`, { ...definition, when }, definition.sentence as Sentence);
    });
    const ofAdvice = Object.entries(adviceCatalogue).map(([code, definition]) =>
      entry(`### ${code}`, definition, definition.sentence as Sentence),
    );
    const ofRuns = Object.entries(runSentences).map(([code, definition]) =>
      entry(`### ${code}`, definition, definition.sentence as Sentence),
    );
    await expectPage('docs/reference/events.md', [
      '# Every event',
      '',
      'What commands say on standard error is an event: a line for people, an object with these fields under [`--json-log`](../observability.md#logs). Below each is the sentence with the fields of an example. Made by `npm run pages`.',
      '',
      '',
      ...ofEvents,
      '## Notices\n\nThe codes of `notice`.\n',
      ...ofNotices,
      '## Advice\n\nThe codes of `next`. Where three columns or more have the same, one event has their names in `column`, and the sums of their cells.\n',
      ...ofAdvice,
      '## Runs\n\nWhere a run is, how it ended and what to do then: `so_far`, `resumable` and `error` are made of these.\n',
      ...ofRuns,
    ]);
  });

  it('has names as they are in every line, and sends a terminal nothing that steers it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...events), hostileNames, (event, name) => {
        const plain = sentencesOf(messageNamed(event, 'PLAIN')).join('\n');
        for (const isTerminal of [false, true]) {
          const text = logged(messageNamed(event, name), { isTerminal });
          expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
          if (!plain.includes('PLAIN')) continue;
          expect(formsOf(name).some((form) => text.includes(form))).toBe(true);
        }
      }),
      { seed: 34, numRuns: 2000 },
    );
  });

  it('has names as they are in every sentence of a notice, an advice or a run', () => {
    const all = { ...notices, ...adviceCatalogue, ...runSentences };
    const sentences: readonly (Definition & { sentence: unknown })[] = Object.values(all);
    fc.assert(
      fc.property(fc.constantFrom(...sentences), hostileNames, ({ example, sentence }, name) => {
        const make = (given: string): string =>
          (sentence as (fields: unknown) => string)(renamed(example, given));
        if (!make('PLAIN').includes('PLAIN')) return;
        const fields = { message: make(name) };
        const text = logged({ event: 'notice', severity: 'notice', fields }, {});
        expect(text.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect(formsOf(name).some((form) => text.includes(form))).toBe(true);
      }),
      { seed: 34, numRuns: 1000 },
    );
  });

  it('has names as they are in errors, and as fields of them', async () => {
    const folder = await withFolder();
    const thrown: Record<'column' | 'option' | 'file', (name: string) => unknown> = {
      column: (name) => findColumn(['1', name, name], name),
      option: (name) => checkOptions({ [name]: 1 }, {}),
      file: async (name) => {
        const source = fileSource(join(folder, name, 'list.csv'));
        await source.open({ wanted: () => [] });
      },
    };
    const fields = ['column', 'option', 'file'] as const;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...fields), hostileNames, async (field, name) => {
        const error = await rejection((async () => thrown[field](name))());
        const message: Message = {
          event: 'error',
          severity: 'error',
          fields: errorFields(error),
        };
        const text = logged(message, {});
        expect(text.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect(formsOf(name).some((form) => text.includes(form))).toBe(true);
        const [line] = parseLog(logged(message, { isJson: true }));
        expect(line).toMatchObject({
          [field]: field === 'file' ? join(folder, name, 'list.csv') : name,
        });
      }),
      { seed: 34, numRuns: 300 },
    );
  });

  it('has names as they are in every field of a log, one line for each event', () => {
    fc.assert(
      fc.property(fc.constantFrom(...events), hostileNames, (event, name) => {
        const message = messageNamed(event, name);
        const line = logged(message, { isJson: true });
        expect(line.trimEnd().split('\n')).toHaveLength(1);
        const [{ time: _time, severity: _severity, event: _event, ...fields } = {}] = parseLog(
          line,
        ) as unknown as Record<string, unknown>[];
        expect(fields).toMatchObject(JSON.parse(JSON.stringify(message.fields)) as object);
      }),
      { seed: 34, numRuns: 2000 },
    );
  });
});
