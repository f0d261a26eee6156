import { PassThrough } from 'node:stream';
import type exceljs from 'exceljs';
import { createSlices } from '../jobs/slices.js';
import type { ServiceContext } from '../service-context.js';
import type { Batch } from '../store/batch.js';
import type { VerdictCount } from '../store/events.js';
import { exportedRecords, type ExportedBlock } from './exported-records.js';
import { safeCell } from './safe-cell.js';
import { resultColumns, verdictCells } from './sheet-columns.js';
import { statisticsRows } from './sheet-statistics.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import { notInstalled } from '../../platform/not-installed.js';
import { badRequest } from '../http/http-problem.js';

/** Rows that a sheet can have (ECMA-376); one is the heading. */
const recordsASheet = 1_048_576 - 1;
/** Made, and not taken by the reader: above that, the rows wait. */
const mostWaitingBytes = 256 * 1024;
/** Rows between two looks at what waits. */
const rowsALook = 256;

/**
 * A batch's results as a workbook: sheets that people can read, and one of statistics. It is written
 * while it is sent. How the dashboard lays it out is not shown (spec 4).
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
  // Its files are open before the first byte is made: what is begun can be read to its end.
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
    // Its reader may have left: then nothing more is read from the disk.
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

/** A sheet whose heading stays in sight, and can be filtered by. */
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

/** Resolves when the reader has taken enough of what was made, or has left. */
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

const missing = notInstalled({ by: 'a spreadsheet', install: 'exceljs@4.4.0' });

/**
 * Loads the package that writes spreadsheets when the first one is asked for; it is no dependency of
 * its own, because few need it.
 *
 * @throws HttpProblem 400, which says how to install it
 */
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
