import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { projectRoot, readEntries } from '../../../scripts/project.mjs';
import { Client } from '../../../src/client/client.js';
import { notSubmittedReasons } from '../../../src/engine/addresses/address.js';
import { exitCodeOf, exitCodes } from '../../../src/cli/process/exit-code.js';
import { columnTexts, environmentTexts, exitCodeTexts } from '../../../src/cli/help/help-topics.js';
import { commands, flagNaming } from '../../../src/cli/commands.js';
import { nameOptionsBy } from '../../../src/platform/text/sentence.js';
import { operations } from '../../../src/contract/operations.js';
import { diagnosticsChannels } from '../../../src/platform/observability.js';
import * as family from '../../../src/platform/errors/index.js';
import { SluiceError } from '../../../src/platform/errors/sluice-error.js';
import { type RunProgress, summaryFileSchema } from '../../../src/index.js';
import { addedColumns } from '../../../src/engine/columns/added-fields.js';
import { reasonWords } from '../../../src/report/sentences/reason-words.js';
import { describeHoverTexts } from './hover-texts.js';
import { describeLibraryOptions } from './library-options.js';
import { codeSpans, listItems, Page, tableRows } from '../page.js';
import {
  describedSchema,
  exportsOf,
  forgetSources,
  membersOf,
  troublesWithoutTypes,
  unionOf,
} from '../source-types.js';

// All that asks the compiler is in this file: it reads the sources once for each process.
afterAll(forgetSources);
describeHoverTexts();
describeLibraryOptions();

const columns = new Page('docs/columns.md');
const everyNight = new Page('docs/every-night.md');
const library = new Page('docs/reference/library.md');
const names = new Page('docs/reference/names.md');
const errors = new Page('docs/when-it-stops.md');
const localService = new Page('docs/reference/local-service.md');
const channels = new Page('docs/reference/channels.md');

it('rows keep their type where neither the DOM nor Node declares a stream of the web', () => {
  const text = `
import { verifyRows, type Client } from 'sluice';
declare const client: Client;
declare const rows: readonly { readonly id: number; readonly email: string }[];
for await (const row of verifyRows(rows, { client, email: ['email'], country: 'US' })) {
  const known: [number, boolean | null] = [row.id, row.email_valid];
  // @ts-expect-error of a column that the rows lack
  row.emial;
}`;
  expect(troublesWithoutTypes(text)).toEqual([]);
});

/** The code in the first cell of each row of a section's tables, and before the colon of each item. */
function firstCodes(page: Page, heading: string): readonly string[] {
  const section = page.section(heading);
  const cells = tableRows(section).map(([cell = '']) => cell);
  return [...cells, ...listItems(section).map(([name]) => name)].flatMap(codeSpans);
}

function sorted(values: Iterable<string>): readonly string[] {
  return [...values].toSorted();
}

/** The rows of a section's tables, as a terminal shows them: without links and code marks. */
function plainRows(page: Page, heading: string): readonly (readonly string[])[] {
  return tableRows(page.section(heading)).map((row) =>
    row.map((cell) => cell.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '')),
  );
}

it('the published schema of a summary has the fields and the texts of its types', async () => {
  const { anyOf = [], ...whole } = z.toJSONSchema(summaryFileSchema);
  const types = ['Summary', 'Estimate', 'StoppedSummary'];
  const described = types.map((type, at) =>
    describedSchema(anyOf[at] ?? {}, 'src/index.ts', type, 'RunEnd'),
  );
  const document = { title: 'What sluice verify --summary writes', ...whole, anyOf: described };
  // One line: what programs read is part of the package's bytes.
  const path = join(projectRoot, 'docs/reference/summary.schema.json');
  await expect(`${JSON.stringify(document)}\n`).toMatchFileSnapshot(path);
});

describe('the topics of help', () => {
  it('say of exit codes, variables and columns what the pages say', () => {
    expect(plainRows(errors, '## Exit codes')).toEqual(
      exitCodeTexts.map(({ code, happened, todo }) => [String(code), happened, todo]),
    );
    expect(plainRows(new Page('docs/command-line.md'), '## Environment')).toEqual(
      environmentTexts.map(({ names, meaning }) => [names, meaning]),
    );
    expect(plainRows(columns, '## Output columns')).toEqual(
      columnTexts.map(({ column, type, meaning }) => [`<c>_${column}`, type, meaning]),
    );
    onTestFinished(nameOptionsBy(flagNaming(commands)));
    const more = /; more$/;
    const listed = plainRows(columns, '## Reasons').map(([, code, words, meaning = '']) => [
      code,
      words,
      meaning.replace(more, ''),
    ]);
    const known = Object.entries(reasonWords).map(([code, { words, meaning }]) => [
      code,
      words,
      meaning,
    ]);
    const byCode = (rows: readonly (readonly unknown[])[]) =>
      new Map(rows.map((row) => [row[0], row]));
    expect(byCode(listed)).toEqual(byCode(known));
  });
});

describe('the exit codes', () => {
  const stopped = ['130', '143'];

  it.each([
    ['## Exit codes', errors],
    ['## Which exit codes to retry', everyNight],
  ])('under "%s" are those of the command line', (heading, page) => {
    const listed = tableRows(page.section(heading)).flatMap(([cell]) => cell?.split(', '));
    expect(listed).toEqual([...Object.values(exitCodes).map(String), ...stopped]);
  });
});

describe('the error codes', () => {
  const rows = tableRows(errors.section('## Error codes'));

  it('are those that the library has', () => {
    const known = unionOf('src/platform/errors/sluice-error.ts', 'SluiceErrorCode');
    expect(sorted(rows.flatMap(([code = '']) => codeSpans(code)))).toEqual(sorted(known));
  });

  it.each(rows.map((row) => [row[0], ...row.slice(1)]))(
    '%s: class and exit code are what is documented of them',
    (code = '', className = '', exitCode) => {
      const [name = ''] = codeSpans(className);
      const constructor = Object.entries(family).find(([known]) => known === name)?.[1];
      if (constructor === undefined) throw new Error(`there is no class ${name}`);
      const prototype: unknown = constructor.prototype;
      const error: unknown = Object.assign(Object.create(prototype as object) as object, {
        code: codeSpans(code)[0],
      });
      expect(error).toBeInstanceOf(SluiceError);
      expect(String(exitCodeOf(error))).toBe(exitCode);
    },
  );

  it('of cells are those that the join gives', () => {
    const listed = tableRows(columns.section('## Reasons')).flatMap(([, cell = '']) =>
      codeSpans(cell),
    );
    const failed = unionOf('src/engine/batches/batch-state.ts', 'FailedReason');
    const known = [...notSubmittedReasons, 'no_record', ...failed, 'not_finished'];
    expect(sorted(listed)).toEqual(sorted(known));
  });
});

describe('the output columns', () => {
  it('in docs/columns.md are those that are added', () => {
    const listed = firstCodes(columns, '## Output columns');
    const known = [...addedColumns('email', '<c>'), ...addedColumns('phone', '<c>')].map(
      ({ name }) => name,
    );
    expect(sorted(new Set(listed))).toEqual(sorted(new Set(known)));
  });
});

describe('the options of the library', () => {
  it.each([
    ['## Options', 'src/service/service-options.ts', 'ServiceOptions'],
    ['### Variants', 'src/service/variants.ts', 'ServiceVariants'],
  ])('of the local service under "%s" are those of their type', (heading, module, type) => {
    const listed = firstCodes(localService, heading);
    expect(sorted(listed)).toEqual(sorted(membersOf(module, type)));
  });

  it('name every stage of the progress of a run', () => {
    // The compiler asks for each.
    const stages: Record<RunProgress['stage'], true> = {
      footer_found: true,
      header_found: true,
      going_on: true,
      carried: true,
      reading: true,
      read: true,
      batch: true,
      text_column: true,
      notice: true,
      left_behind: true,
      older_state: true,
      already_finished: true,
      recalled: true,
      stopped: true,
      writing: true,
      written: true,
    };
    const [, text = ''] = /by `stage`: (.*)/.exec(library.section('### Options of run()')) ?? [];
    const listed = codeSpans(text);
    expect(sorted(listed)).toEqual(sorted(Object.keys(stages)));
  });

  it('leave out no operation of the client', () => {
    const listed = firstCodes(library, '### Operations').map((call) => call.replace(/\(.*/, ''));
    expect(sorted(listed)).toEqual(sorted(Object.keys(operations)));
  });
});

describe('the channels in docs/reference/channels.md', () => {
  const rows = tableRows(channels.section('## Channels'));

  it('are those that there are', () => {
    expect(rows.flatMap(([name = '']) => codeSpans(name))).toEqual([...diagnosticsChannels]);
  });

  it.each(
    rows.map(
      ([name = '', , fields = '']) => [codeSpans(name)[0] ?? '', codeSpans(fields)] as const,
    ),
  )('%s has the fields that are documented of it', (channel, fields) => {
    const known = membersOf('src/platform/observability.ts', 'DiagnosticsEvents', channel);
    expect(fields.toSorted()).toEqual(known.toSorted());
  });
});

const entries = await readEntries();

/** What is called on something that is exported, or on what one's own code is given. */
const membersInProse = ['open', 'run'];

/** The names in the tables that list what an entry point exports, in the page's order. */
function listedBy(entry: string): readonly string[] {
  const tables = names.text.split(/\n\n/).filter((part) => {
    const [head = ''] = part.split('\n', 1);
    const [, cell = ''] = head.split('|', 2);
    return cell.trimEnd().endsWith(' exports') && codeSpans(cell).includes(entry);
  });
  return tables.flatMap((table) => tableRows(table).flatMap(([cell = '']) => codeSpans(cell)));
}

const exported = new Map(entries.map(({ entry, module }) => [entry, exportsOf(module)]));

describe('docs/reference/names.md', () => {
  it('knows more than one entry point of the package', () => {
    expect(entries.length).toBeGreaterThan(5);
  });

  it.each(entries)('lists every export of $entry once, and none that is not there', ({ entry }) => {
    expect(listedBy(entry).toSorted()).toEqual(exported.get(entry)?.toSorted());
  });

  it('lists no export of an entry point that the package does not have', () => {
    const heads = [...names.text.matchAll(/^\| `([^`]+)` exports/gm)].map(([, entry]) => entry);
    const known = entries.map(({ entry }) => entry);
    expect(heads.filter((entry) => !known.includes(entry ?? ''))).toEqual([]);
  });

  it('calls nothing by a name that no entry point exports', () => {
    const exports = new Set([...exported.values()].flat());
    const members = Object.getOwnPropertyNames(Client.prototype);
    const called = [...(library.text + names.text).matchAll(/`(?:new )?([a-zA-Z]+)\([^`]*\)`/g)];
    const known = new Set([...exports, ...members, ...membersInProse]);
    const unknown = called.map(([, name = '']) => name).filter((name) => !known.has(name));
    expect([...new Set(unknown)]).toEqual([]);
  });
});
