import type ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { notSubmittedReasons } from '../../src/addresses/not-submitted.js';
import { bounds } from '../../src/batches/life.js';
import { exitCodeOf, exitCodes } from '../../src/cli/exit-code.js';
import { operations } from '../../src/contract/operations.js';
import * as family from '../../src/errors/family.js';
import { SluiceError } from '../../src/errors/sluice-error.js';
import type { RunProgress } from '../../src/index.js';
import { addedColumns } from '../../src/results/columns.js';
import { codeSpans, listItems, Page, tableRows } from './page.js';
import { createProgram, membersOf, unionOf } from './source-types.js';

const columns = new Page('docs/columns.md');
const everyNight = new Page('docs/every-night.md');
const library = new Page('docs/library.md');
const errors = new Page('docs/when-it-stops.md');
const localService = new Page('docs/local-service.md');

/** The code in the first cell of each row of a section's tables, and before the colon of each item. */
function firstCodes(page: Page, heading: string): readonly string[] {
  const section = page.section(heading);
  const cells = tableRows(section).map(([cell = '']) => cell);
  return [...cells, ...listItems(section).map(([name]) => name)].flatMap(codeSpans);
}

function sorted(values: Iterable<string>): readonly string[] {
  return [...values].toSorted();
}

let program: ts.Program;

beforeAll(() => {
  const faces = "import './src/index.js';\nimport './src/service/index.js';\n";
  program = createProgram(new Map([['faces.ts', faces]]));
}, 120_000);

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
    const known = unionOf(program, 'src/errors/sluice-error.ts', 'SluiceErrorCode');
    expect(sorted(rows.flatMap(([code = '']) => codeSpans(code)))).toEqual(sorted(known));
  });

  it.each(rows.map((row) => [row[0], ...row.slice(1)]))(
    '%s: class and exit code are what is said of them',
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
    const failed = unionOf(program, 'src/batches/known-batch.ts', 'FailedReason');
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
    ['### Options of verify()', library, 'src/streams/stream-options.ts', 'VerifyOptions'],
    ['### Options of run()', library, 'src/runs/run-options.ts', 'RunOptions'],
    ['### Options of the client', library, 'src/client/client-options.ts', 'ClientOptions'],
    ['### Options', localService, 'src/service/service-options.ts', 'ServiceOptions'],
    ['### Variants', localService, 'src/service/variants.ts', 'ServiceVariants'],
  ])('under "%s" are those of their type', (heading, page, module, type) => {
    const listed = firstCodes(page, heading);
    expect(sorted(listed)).toEqual(sorted(membersOf(program, module, type)));
  });

  it('name every stage of the progress of a run', () => {
    // The compiler asks for each.
    const stages: Record<RunProgress['stage'], true> = {
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
      stopped: true,
      writing: true,
      written: true,
    };
    const [, text = ''] =
      listItems(library.section('### Options of run()')).find(
        ([name]) => name === '`onProgress`',
      ) ?? [];
    const listed = codeSpans(text).filter((code) => code !== 'stage');
    expect(sorted(listed)).toEqual(sorted(Object.keys(stages)));
  });

  it('leave out no operation of the client', () => {
    const listed = firstCodes(library, '### Operations').map((call) => call.replace(/\(.*/, ''));
    expect(sorted(listed)).toEqual(sorted(Object.keys(operations)));
  });
});

describe('the bounds of what is tried again', () => {
  it('in ARCHITECTURE.md are those of the life of a batch', () => {
    const rows = tableRows(new Page('ARCHITECTURE.md').section('### Bounds'));
    const listed = rows.map(([name = '', value]) => [codeSpans(name)[0], Number(value)] as const);
    expect(Object.fromEntries(listed)).toEqual(bounds);
  });
});
