import type { Batch } from '../../batches/batch.js';
import type { RowValidator, Sink, AddedColumn, OutputCell } from '../../../lists/rows/sink.js';
import {
  closeReading,
  type FoundHeader,
  type Source,
  type SourceReading,
} from '../../../lists/rows/source.js';
import {
  type ColumnLayout,
  type ColumnOptions,
  layOutColumns,
} from '../../columns/column-layout.js';
import { type HintOptions, hintPositions, withListHints } from '../../columns/list-hints.js';
import { InputError } from '../../../platform/errors/errors.js';
import { readCountry } from '../../plan/plan.js';
import type { PlanEntry } from '../../stores/journal-entries.js';
import { type RunProgress, noticed } from '../reporting/run-progress.js';
import { notice } from '../../../platform/text/notices.js';
import { notSubmittedReasons } from '../../addresses/address.js';
import {
  emailQualities,
  emailResults,
  verificationTypes,
  type VerificationType,
} from '../../../contract/enums.js';
import { recordFields } from '../../../contract/records.js';
import { fieldPlace, outcomeCells } from '../../columns/added-fields.js';
import type { Outcome, OutcomeValue } from '../../results/outcome-table.js';

export async function openList(
  source: Source,
  {
    signal,
    onProgress,
    onHeaderFound,
    isSent,
    ...options
  }: ColumnOptions & {
    readonly country?: string | undefined;
    readonly emailCountry?: string | undefined;
    /** Whether a cell's address is sent: asked while rows are read. */
    readonly isSent: HintOptions['isSent'];
    readonly signal?: AbortSignal | undefined;
    readonly onProgress?: ((progress: RunProgress) => void) | undefined;
    readonly onHeaderFound?: (found: FoundHeader) => void;
  },
): Promise<{ readonly reading: SourceReading; readonly layout: ColumnLayout }> {
  let layout: ColumnLayout | undefined;
  const hasOwnCountries = (options.countryColumn ?? options.countryFrom) !== undefined;
  const hasPhones = (options.phone ?? []).length > 0;
  const hints = {
    optOutsOf: verificationTypes.filter((type) => (options[type] ?? []).length > 0),
    isSent,
    countryOfAll:
      hasOwnCountries || (!hasPhones && options.emailCountry !== undefined)
        ? undefined
        : readCountry(options.country),
    hasPhones,
    isOfQuery: source.decides?.['query'] !== undefined,
    verified: () => layout?.columns ?? [],
  };
  const reading = await source.open({
    ...(signal && { signal }),
    onHeaderFound(found) {
      onHeaderFound?.(found);
      onProgress?.({ stage: 'header_found', ...found });
    },
    ...(onProgress && {
      onFooterFound: (found) => onProgress({ stage: 'footer_found', ...found }),
      onNotice: (given) => onProgress(noticed(given)),
    }),
    wanted: (header) => {
      layout = layOutColumns(header, options);
      const read = onProgress ? hintPositions(header, hints) : [];
      return [...new Set([...wantedPositions(layout), ...read])];
    },
    needed: (header) => wantedPositions(layOutColumns(header, options)),
  });
  layout ??= layOutColumns(reading.header, options);
  await refuseRounded(reading, layout);
  const damaged = reading.header.filter((name) => name.includes('\ufffd'));
  if (damaged.length > 0) onProgress?.(noticed(notice('damaged_names', { columns: damaged })));
  return {
    reading: onProgress
      ? withListHints(reading, hints, (found) => onProgress(noticed(found)))
      : reading,
    layout,
  };
}

/** Single-precision numbers have lost the last digits of a phone number: another's would be paid for. */
async function refuseRounded(reading: SourceReading, { columns }: ColumnLayout): Promise<void> {
  const rounded = columns.find(
    ({ type, position }) => type === 'phone' && reading.kinds?.[position]?.name === 'float32',
  );
  if (!rounded) return;
  await closeReading(reading);
  const { name: column } = rounded;
  throw new InputError(
    `column ${JSON.stringify(column)} has single-precision numbers, which hold 7 digits: those of its phone numbers are lost. Write the numbers as text where the list is made; nothing was sent`,
    { column, fault: 'unsupported' },
  );
}

/** Ends the run before anything is paid where the output has no form for the rows. */
export async function startValidating(
  {
    sink,
    runId,
    onProgress,
    signal,
  }: {
    readonly sink: Sink;
    readonly runId?: string;
    readonly onProgress?: ((progress: RunProgress) => void) | undefined;
    readonly signal: AbortSignal;
  },
  reading: SourceReading,
  layout: ColumnLayout,
): Promise<RowValidator | undefined> {
  try {
    return await sink.validate?.(reading, {
      ...(runId !== undefined && { runId }),
      ...(onProgress && {
        onNotice: (given) => onProgress(noticed(given)),
        onTextColumn: (column) => onProgress({ stage: 'text_column', ...column }),
      }),
      signal,
      verified: layout.columns.map(({ position }) => position),
      added: layout.added,
      samples: layout.columns.map(({ type }, column) =>
        sampleCells(type, layout.added[column] ?? []),
      ),
    });
  } catch (error) {
    await closeReading(reading);
    throw error;
  }
}

export function planEntryOf(
  rows: number,
  { reading, found }: { readonly reading: SourceReading; readonly found: readonly FoundHeader[] },
  batches: readonly Batch[],
): PlanEntry {
  return {
    entry: 'plan',
    rows,
    content: reading.contentDigest?.() ?? null,
    ...(found.length > 0 && { headers: found.map(({ number }) => number) }),
    batches: batches.map(({ group, addresses, checksum }) => ({
      type: group.type,
      country: group.country,
      addresses,
      checksum,
    })),
  };
}

export function wantedPositions(layout: ColumnLayout): readonly number[] {
  const positions = new Set(layout.columns.map((column) => column.position));
  for (const position of [layout.countryPosition, layout.countryFromPosition]) {
    if (position !== undefined) positions.add(position);
  }
  return [...positions];
}

function sampleOutcomes(type: VerificationType): readonly Outcome[] {
  const without = { values: undefined, type: undefined };
  const origin = { source: 'service', batchUuid: sampleUuid, verifiedAt: sampleTime } as const;
  const failures = ['internal_error', 'export_incomplete', 'not_finished'];
  return [
    ...notSubmittedReasons.map((reason) => ({ ...without, verification: 'not_submitted', reason })),
    { ...without, verification: 'no_result', reason: 'no_record', origin },
    ...failures.map((reason) => ({ ...without, verification: 'failed', reason, origin })),
    ...[0, 1, 2, 3].map((at) => ({
      verification: 'verified',
      reason: '',
      type,
      values: recordFields[type].map((field) => sampleValue(field, at)),
      origin: { ...origin, source: at === 0 ? ('history' as const) : origin.source },
    })),
  ] as readonly Outcome[];
}

const sampleUuid = '00000000-0000-4000-8000-000000000000';
const sampleTime = '2026-01-01T00:00:00.000Z';
/** Texts as long as the service's; a field that is not listed has a usual one. */
const sampleTexts = new Map<string, readonly (string | null)[]>([
  ['quality', emailQualities],
  ['result', emailResults],
  ['type', ['mobile', 'landline', 'voip', 'toll_free']],
  ['status', ['active', 'inactive', 'ok', 'unknown']],
  ['current_network_mcc', ['262', null]],
  ['current_network_mnc', ['01', null]],
  ['operator', ['Deutsche Telekom', null]],
]);

function sampleValue(field: string, at: number): OutcomeValue {
  const texts = sampleTexts.get(field);
  return texts ? (texts[at % texts.length] ?? null) : at % 2 === 0;
}

function sampleCells(
  type: VerificationType,
  added: readonly AddedColumn[],
): readonly (readonly OutputCell[])[] {
  return sampleOutcomes(type).map((outcome) => {
    const cells = outcomeCells(outcome, type);
    const isSent = outcome.verification !== 'not_submitted';
    return added.map(({ field }) => {
      if (field === 'submitted') return isSent ? sampleLines[type] : null;
      if (field === 'suggestion') return 'gmail.com';
      return cells[fieldPlace(type, field)] ?? null;
    });
  });
}

const sampleLines = { email: 'someone@example.com', phone: '+14155550100' } as const;
