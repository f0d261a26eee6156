import { PassThrough } from 'node:stream';
import type exceljs from 'exceljs';
import type { VerificationType } from '../../contract/enums.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import { refuseMissingPackage } from '../../platform/optional-package.js';
import { createSlices } from '../batches/shortest-job-first.js';
import { badRequest } from '../http/reply.js';
import type { ServiceContext } from './operation.js';
import { type Batch, statusOf } from '../storage/batch.js';
import type { VerdictCount } from '../storage/events.js';
import { defaultVariants } from '../variants.js';
import type { Verdict } from '../verification/engine.js';
import { dateTime, progressFields } from './batch-fields.js';
import { type ExportedBlock, exportedRecords } from './exported-records.js';

/** Most rows of a sheet (ECMA-376); one is the heading. */
const recordsASheet = 1_048_576 - 1;
/** Produced and not read: above that, the rows wait. */
const mostWaitingBytes = 256 * 1024;
/** Rows between two checks of what waits. */
const rowsALook = 256;

/**
 * A batch's results as a workbook: sheets that people can read, and one of statistics. Written while it is
 * sent. The dashboard's layout is not shown (spec 4).
 */
export async function exportWorkbook(
  batch: Batch,
  verdicts: readonly VerdictCount[],
  service: ServiceContext,
): Promise<AsyncIterable<Uint8Array>> {
  const { stream } = await loadExceljs();
  return workbookBytes(stream.xlsx.WorkbookWriter, { batch, verdicts, service });
}

interface Exported {
  readonly batch: Batch;
  readonly verdicts: readonly VerdictCount[];
  readonly service: ServiceContext;
}

async function* workbookBytes(
  WorkbookWriter: typeof exceljs.stream.xlsx.WorkbookWriter,
  exported: Exported,
): AsyncGenerator<Uint8Array, void> {
  const { batch, service } = exported;
  const records = exportedRecords(batch, service);
  // Its files are opened before the first byte: a started export can be completed.
  const first = await records.next();
  const output = new PassThrough({ highWaterMark: mostWaitingBytes });
  const workbook = new WorkbookWriter({ stream: output, useStyles: true, useSharedStrings: false });
  const blocks = chained(first, records);
  const written = writeSheets(workbook, output, { ...exported, blocks }).catch((error: unknown) => {
    output.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  try {
    for await (const piece of output as AsyncIterable<Buffer>) yield piece;
  } finally {
    // Its reader may have left: then nothing more is read from disk.
    output.destroy();
    await written;
    await records.return();
  }
}

async function* chained(
  first: IteratorResult<ExportedBlock, void>,
  rest: AsyncGenerator<ExportedBlock, void>,
): AsyncGenerator<ExportedBlock, void> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

async function writeSheets(
  workbook: exceljs.stream.xlsx.WorkbookWriter,
  output: PassThrough,
  { batch, verdicts, blocks }: Exported & { readonly blocks: AsyncIterable<ExportedBlock> },
): Promise<void> {
  const { type } = batch.parameters;
  const slices = createSlices(new AbortController().signal);
  const cells = verdicts.map(({ verdict }) => verdictCells(verdict));
  let sheet: exceljs.Worksheet | undefined;
  let rows = 0;
  for await (const { addresses, codes } of blocks) {
    for (const [index, address] of addresses.entries()) {
      if (sheet === undefined || rows % recordsASheet === 0) {
        sheet?.commit();
        sheet = addSheet(workbook, `Results${rows === 0 ? '' : ` ${rows / recordsASheet + 1}`}`, {
          columns: resultColumns(type),
        });
      }
      sheet.addRow([safeCell(address), ...(cells[codes[index] ?? -1] ?? [])]).commit();
      rows += 1;
      if (rows % rowsALook === 0) {
        if (slices.isOver()) await slices.pause();
        await taken(output);
        if (output.destroyed) return;
      }
    }
  }
  (sheet ?? addSheet(workbook, 'Results', { columns: resultColumns(type) })).commit();
  const statistics = addSheet(workbook, 'Statistics', {
    columns: [
      { header: 'What', width: 36 },
      { header: 'Value', width: 48 },
    ],
  });
  for (const row of statisticsRows(batch)) statistics.addRow([...row]).commit();
  statistics.commit();
  await workbook.commit();
}

function addSheet(
  workbook: exceljs.stream.xlsx.WorkbookWriter,
  name: string,
  { columns }: { readonly columns: readonly { readonly header: string; readonly width: number }[] },
): exceljs.Worksheet {
  const sheet = workbook.addWorksheet(name, { views: [{ state: 'frozen', ySplit: 1 }] });
  sheet.columns = columns.map((column) => ({ ...column }));
  sheet.getRow(1).font = { bold: true };
  sheet.autoFilter = { from: { row: 1, column: 1 }, to: { row: 1, column: columns.length } };
  return sheet;
}

/** Resolves when the reader has taken enough, or has left. */
async function taken(output: PassThrough): Promise<void> {
  while (output.writableNeedDrain && !output.destroyed) {
    await new Promise<void>((resolve) => {
      const go = (): void => {
        output.off('drain', go).off('close', go);
        resolve();
      };
      output.once('drain', go).once('close', go);
    });
  }
}

const missing = refuseMissingPackage({ by: 'a spreadsheet', install: 'exceljs@4.4.0' });

/** Loads the package for spreadsheets at the first one; it is optional, as few need it. */
export async function loadExceljs(
  load: () => Promise<{ readonly default: typeof exceljs }> = async () =>
    import('exceljs').catch(missing),
): Promise<typeof exceljs> {
  try {
    return (await load().catch(missing)).default;
  } catch (error) {
    if (!isSluiceError(error, 'missing_dependency')) throw error;
    throw badRequest(
      `${error.message}, once "overrides": {"traverse": "0.3.9"} is in package.json; or ask for format=json`,
    );
  }
}

interface Column {
  readonly header: string;
  readonly width: number;
}

const emailColumns: readonly Column[] = [
  { header: 'Email', width: 40 },
  { header: 'Verdict', width: 12 },
  { header: 'Quality', width: 12 },
  { header: 'Result', width: 12 },
  { header: 'Syntax error', width: 14 },
  { header: 'Free provider', width: 14 },
  { header: 'Role', width: 10 },
  { header: 'Disposable', width: 12 },
  { header: 'Catch-all', width: 12 },
];

const phoneColumns: readonly Column[] = [
  { header: 'Phone', width: 24 },
  { header: 'Verdict', width: 12 },
  { header: 'Type', width: 22 },
  { header: 'Status', width: 12 },
  { header: 'Syntax error', width: 14 },
  { header: 'Ported', width: 10 },
  { header: 'Network MCC', width: 14 },
  { header: 'Network MNC', width: 14 },
  { header: 'Operator', width: 28 },
];

/** The columns of the sheet of results: the address and its record (spec 2.7). */
function resultColumns(type: VerificationType): readonly Column[] {
  return type === 'email' ? emailColumns : phoneColumns;
}

function verdictCells(verdict: Verdict): readonly string[] {
  const word = verdict.wrong ? 'wrong' : verdict.unknown ? 'unknown' : 'valid';
  if ('quality' in verdict) {
    return [
      word,
      verdict.quality,
      verdict.result,
      yesNo(verdict.is_syntax_error),
      yesNo(verdict.is_free),
      yesNo(verdict.is_role),
      yesNo(verdict.is_disposable),
      yesNo(verdict.is_catch_all),
    ];
  }
  return [
    word,
    safeCell(verdict.type),
    safeCell(verdict.status),
    yesNo(verdict.is_syntax_error),
    yesNo(verdict.is_ported),
    safeCell(verdict.current_network_mcc ?? ''),
    safeCell(verdict.current_network_mnc ?? ''),
    safeCell(verdict.operator ?? ''),
  ];
}

function yesNo(flag: boolean): string {
  return flag ? 'yes' : 'no';
}

function statisticsRows(batch: Batch): readonly (readonly [string, string | number])[] {
  const { parameters } = batch;
  return [
    ['Batch', safeCell(batch.name)],
    ['Description', safeCell(batch.description ?? '')],
    ['Batch UUID', batch.uuid],
    ['Status', statusOf(batch.stage)],
    ['Type', parameters.type],
    ['Target country', parameters.target_country],
    ['Uploaded', dateTime(batch.createdAtMs)],
    ['Changed', dateTime(batch.updatedAtMs)],
    ...figures(progressFields(batch, defaultVariants)),
  ];
}

/** Numbers inside objects, each with its path of names: `results valid`. */
function figures(fields: Readonly<Record<string, unknown>>, path = ''): [string, number][] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const words = `${path}${name.replaceAll('_', ' ')}`;
    if (typeof value === 'number') return [[words, value] satisfies [string, number]];
    if (typeof value !== 'object' || value === null) return [];
    return figures(value as Readonly<Record<string, unknown>>, `${words}: `);
  });
}

/** Characters at the beginning of a text that a spreadsheet may take for a formula. */
const formulaStart = /^[=+\-@\t\r]/;
/** A number in international form, which is not a formula. */
const internationalNumber = /^\+\d+$/;
/** Characters that XML cannot represent. */
// oxlint-disable-next-line no-control-regex
const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** A foreign text for a spreadsheet cell: a possible formula gets an apostrophe in front, also for a later CSV. */
export function safeCell(text: string): string {
  const written = text.replaceAll(unwritable, '\ufffd');
  if (!formulaStart.test(written) || internationalNumber.test(written)) return written;
  return `'${written}`;
}
