import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as bodies from '../../../src/contract/bodies.js';
import { countryCodes } from '../../../src/contract/countries.js';
import * as enums from '../../../src/contract/enums.js';
import { limits } from '../../../src/contract/limits.js';
import {
  apiKeyHeader,
  interfaceVersion,
  operations,
  type Operation,
} from '../../../src/contract/operations.js';
import * as parameters from '../../../src/contract/parameters.js';
import { emailRecord, phoneRecord } from '../../../src/contract/records.js';
import {
  targetAudiences,
  targetIndustries,
  targetObjectives,
} from '../../../src/contract/targets.js';
import { codeSpans } from '../page.js';
import { section, specification } from './specification.js';

interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The table of a section that comes right below the words. */
function table(number: string, below: string): Table {
  const blocks = section(number).split('\n\n');
  const caption = blocks.findIndex((block) => block.includes(below));
  const lines = blocks.slice(caption).find((block) => block.trim().startsWith('|')) ?? '';
  const [head = [], , ...rows] = lines.trim().split('\n').map(cellsOf);
  return { head, rows };
}

function cellsOf(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** What a row of fields says, in the columns that the contract has too. */
function fieldsOf({ head, rows }: Table): readonly Readonly<Record<string, string>>[] {
  const shared = ['field', 'type', 'required', 'default', 'bounds'];
  return rows.map((row) =>
    Object.fromEntries(shared.map((column) => [column, row[head.indexOf(column)] ?? ''] as const)),
  );
}

type Json = Readonly<Record<string, unknown>>;

/** The same of a schema of the contract. */
function contractFields(schema: z.ZodType): readonly Readonly<Record<string, string>>[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
  });
  return Object.entries(properties as Readonly<Record<string, Json>>).map(([field, property]) => ({
    field: `\`${field}\``,
    type: typeOf(property),
    required: required.includes(field) ? 'yes' : 'no',
    default: String(property['default'] ?? ''),
    bounds: boundsOf(property),
  }));
}

const wordTypes: readonly (readonly [string, readonly string[]])[] = [
  ['verification type', enums.verificationTypes],
  ['country code', countryCodes],
  ['batch status', enums.batchStatuses],
  ['export format', enums.exportFormats],
  ['email quality', enums.emailQualities],
  ['email result', enums.emailResults],
];

function typeOf(property: Json): string {
  const choices = property['anyOf'] as readonly Json[] | undefined;
  if (choices) return choices.map(typeOf).join(' or ');
  const constant = property['const'];
  const words = (property['enum'] ?? property['examples'] ?? (constant && [constant])) as
    | readonly string[]
    | undefined;
  if (words) {
    const known = wordTypes.find(([, all]) => words.every((word) => all.includes(word)));
    return known?.[0] ?? `one of ${words.join(', ')}`;
  }
  if (property['type'] === 'object') return 'parameters';
  const types = property['format'] ?? property['type'];
  return Array.isArray(types) ? types.join(' or ') : String(types);
}

function boundsOf(property: Json): string {
  const inner = (property['anyOf'] as readonly Json[] | undefined)?.[0] ?? property;
  if (inner['maxLength'] !== undefined) {
    return `${Number(inner['minLength'] ?? 0)} to ${Number(inner['maxLength'])} characters`;
  }
  const [least, most] = [inner['minimum'], inner['maximum']].map((bound) =>
    Number.isSafeInteger(bound) && Math.abs(Number(bound)) < Number.MAX_SAFE_INTEGER
      ? Number(bound)
      : undefined,
  );
  if (least === undefined) return '';
  return most === undefined ? `from ${least}` : `${least} to ${most}`;
}

const uploadFields = parameters.uploadForm.omit(parameters.batchParameters.shape as never);

describe('the fields of docs/reference/service-interface.md are those of the contract', () => {
  it.each<[string, string, z.ZodType]>([
    ['2.1', '', bodies.creditBalance],
    ['2.2', '', bodies.batchSummary],
    ['2.3', '', parameters.batchParameters],
    ['2.5', '', bodies.batchStatusAnswer],
    ['2.6', 'Base details', bodies.baseDetails],
    ['2.6', 'Pending details', bodies.pendingDetails],
    ['2.6', 'Final details', bodies.finalDetails],
    ['2.7', 'Email record', emailRecord],
    ['2.7', 'Phone record', phoneRecord],
    ['2.8', 'Cost object of an email', bodies.emailCost],
    ['2.8', 'Cost object of a phone', bodies.phoneCost],
    ['2.8', 'Parsing counts of an email', bodies.emailParsingCounts],
    ['2.8', 'Parsing counts of a phone', bodies.phoneParsingCounts],
    ['2.9', 'Upload form', uploadFields],
    ['2.9', 'Form of a format normalization', parameters.formatForm],
    ['4', 'Query of `listBatches`', parameters.listQuery],
    ['4', 'Query of `exportBatch`', parameters.exportQuery],
  ])('%s %s', (number, below, schema) => {
    expect(fieldsOf(table(number, below))).toEqual(contractFields(schema));
  });
});

/** The code of the first column. */
function firstWords({ rows }: Table): readonly string[] {
  return rows.flatMap(([cell = '']) => codeSpans(cell));
}

describe('the words of docs/reference/service-interface.md are those of the contract', () => {
  it.each([
    ['2.4', 'Verification type', enums.verificationTypes],
    ['2.4', 'Batch status', enums.batchStatuses],
    ['2.4', 'Export format', enums.exportFormats],
    ['2.9', 'Answer to an upload', enums.uploadStatuses],
    ['2.9', 'Answer to a preparation', enums.prepareStatuses],
    ['2.9', 'Answer to a launch', enums.launchStatuses],
    ['2.9', 'Answer to a unit', enums.unitStatuses],
  ])('%s %s', (number, below, words) => {
    expect(firstWords(table(number, below)).slice(-words.length)).toEqual(words);
  });

  it.each([
    ['Email quality', enums.emailQualities],
    ['Email result', enums.emailResults],
  ])('2.4 %s', (name, words) => {
    const line = section('2.4')
      .split('\n')
      .find((text) => text.startsWith(name));
    expect(codeSpans(line?.split(':')[1] ?? '')).toEqual(words);
  });

  it('2.4 Country code', () => {
    const listed = specification.blocks('text')[0]?.text.split(/\s+/).filter(Boolean);
    expect(listed).toEqual(countryCodes);
    expect(section('2.4')).toContain(`(${countryCodes.length} of them)`);
  });

  it.each<[string, Readonly<Record<number, string>>]>([
    ['target_audience', targetAudiences],
    ['target_objective', targetObjectives],
    ['target_market_industry', targetIndustries],
  ])('2.4 %s', (name, meanings) => {
    const [, list = ''] = section('2.4').split(`\n\`${name}\`:\n\n`);
    const lines = (list.split('\n\n')[0] ?? '').trim().split('\n');
    expect(lines).toEqual(Object.entries(meanings).map(([id, meaning]) => `${id}. ${meaning}`));
  });

  it('3: every status is a state, or the next of one', () => {
    const { head, rows } = table('3', '');
    const states = rows.flatMap((row) => [row[0], row[head.indexOf('next state')]]);
    expect(new Set(states)).toEqual(new Set(enums.batchStatuses.map((status) => `\`${status}\``)));
  });
});

describe('the operations of docs/reference/service-interface.md', () => {
  const listed = table('4', 'All paths');

  it('are those of the contract, with what they take and their errors', () => {
    const known = Object.entries<Operation>(operations).map(([name, operation]) => [
      `\`${name}\``,
      `\`${operation.method} ${operation.path}\``,
      operation.keyed ? 'yes' : 'no',
      operation.query
        ? 'query'
        : { none: 'nothing', json: 'JSON', multipart: 'form' }[operation.request.kind],
      operation.errors.join(' '),
    ]);
    const taken = /query|nothing|JSON|form$/;
    const shown = listed.rows.map(([name, request, key, takes = '', , errors]) => [
      name,
      request,
      key,
      taken.exec(takes)?.[0],
      errors,
    ]);
    expect(shown).toEqual(known);
  });

  it('have the errors, the header of the key and the version that it names', () => {
    const statuses = new Set(Object.values<Operation>(operations).flatMap(({ errors }) => errors));
    expect(table('7', '').rows.map(([status]) => Number(status))).toEqual(
      [...statuses].toSorted((a, b) => a - b),
    );
    expect(section('5').toLowerCase()).toContain(`\`${apiKeyHeader}\``);
    expect(section('9')).toContain(`\`${interfaceVersion}\``);
    const { xlsx } = operations.exportBatch.response.contentTypes;
    expect(section('4')).toContain(`\`${xlsx}\``);
  });
});

it('the limits of docs/reference/service-interface.md are the bounds of the contract', () => {
  const values = Object.fromEntries(table('8', '').rows.map(([name = '', value]) => [name, value]));
  const { listLimit, listOffset, cacheBackoffDays, nameLength, descriptionLength } = limits;
  expect(values).toMatchObject({
    '`limit`': `${listLimit.min} to ${listLimit.max}, default ${listLimit.default}`,
    '`offset`': `from ${listOffset.min}, default ${listOffset.default}`,
    '`max_account_cache_backoff`, `max_global_cache_backoff`': `${cacheBackoffDays.min} to ${cacheBackoffDays.max} days, default ${cacheBackoffDays.default}`,
    'length of `name`': `${nameLength.min} to ${nameLength.max} characters`,
    'length of `description`': `0 to ${descriptionLength.max} characters`,
    'time of a unit verification': `at most ${limits.unitVerificationMs / 1000} seconds`,
    'refund of a cache hit': `${limits.cacheRefund * 100}% of the record's cost`,
  });
});
