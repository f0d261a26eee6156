import { dropWriting, checkWriting } from '../../../lists/rows/guarded-ends.js';
import type {
  AddedCells,
  JoinedRows,
  OpenSinkOptions,
  OutputCell,
  Sink,
  SinkWriting,
} from '../../../lists/rows/sink.js';
import { closeReading, type Source, type SourceReading } from '../../../lists/rows/source.js';
import { pending } from '../../plan/address-book.js';
import type { Plan } from '../../plan/plan.js';
import type { PlanEntry } from '../../stores/journal-entries.js';
import { OutcomeTally } from '../../summary/outcome-tally.js';
import { optOutColumns } from '../../summary/reachable-rows.js';
import { wantedPositions } from '../planning/open-list.js';
import { unsplitRows } from '../planning/split-cells.js';
import { inputChanged, type TicketFile, type TicketReader } from '../planning/ticket-file.js';
import type { OnNotice } from '../../../platform/text/notices.js';

interface SinkOptions {
  readonly source: Source;
  readonly sink: Sink;
  readonly runId?: string;
  readonly plan: Plan;
  readonly signal?: AbortSignal | undefined;
  readonly onNotice?: OnNotice;
}

interface WriteOutputOptions extends SinkOptions {
  readonly tickets: TicketFile;
  /** The plan's entry: the second reading must match it. */
  readonly entry: PlanEntry;
  readonly signal: AbortSignal;
  /** Resolves when another batch is settled; rejects when none will be. @default all are settled */
  readonly nextSettled?: () => Promise<void>;
  /** Resolves when the output may appear. @default once it is written */
  readonly allSettled?: () => Promise<void>;
  readonly confirm?: (() => Promise<void>) | undefined;
  readonly onRows: (rows: number) => void;
}

/** Reads the source again, joins each row with its results, and writes the output: complete when this returns. */
export async function writeJoined(options: WriteOutputOptions): Promise<OutcomeTally> {
  const { source, sink, plan, signal } = options;
  const readsCells = plan.hasPerCellValues || sink.readsAddresses === true;
  const needed = wantedPositions(plan.layout);
  const reading = await source.open({
    signal,
    wanted(header) {
      const optOuts = optOutColumns(header, plan.layout).flat();
      // Values of the cell itself are read from it again.
      const cells = readsCells ? needed : [];
      return [...new Set([...cells, ...optOuts.map(({ position }) => position)])];
    },
    needed: () => needed,
  });
  const writing = await openSink(options, reading);
  const tickets = options.tickets.read(source.name);
  try {
    const tally = await joinAll(reading, writing, tickets, options);
    await options.allSettled?.();
    await options.confirm?.();
    await writing.finish();
    return tally;
  } catch (error) {
    await dropWriting(writing, options.onNotice);
    throw error;
  } finally {
    await tickets.close();
  }
}

export async function openSink(
  { source, sink, plan, runId, onNotice, signal }: SinkOptions,
  reading: SourceReading,
  onTextColumn?: OpenSinkOptions['onTextColumn'],
): Promise<SinkWriting> {
  const perCell = plan.hasPerCellValues ? new PerCellValues(plan) : undefined;
  const { added, whole } = plan.layout;
  try {
    const permissions = await source.permissions?.();
    const writing = await sink.open({
      ...(runId !== undefined && { runId }),
      ...(permissions && { permissions }),
      ...(onNotice && { onNotice }),
      ...(signal && { signal }),
      reading,
      verified: plan.layout.columns.map(({ position }) => position),
      added,
      ...(onTextColumn && { onTextColumn }),
      addressOf: (chunk, row, column) => plan.planner.cells.addressOf(chunk, row, column)?.key,
      cellsOf: perCell?.cellsOf ?? ((outcome, column) => plan.cellsOf(outcome, column)),
      ...(whole && {
        whole: {
          added: whole,
          cellsOf:
            perCell?.wholeCellsOf ?? ((outcome, column) => plan.wholeCellsOf(outcome, column)),
        },
      }),
    });
    checkWriting(writing, { name: sink.name, isKept: runId !== undefined });
    return perCell?.over(writing) ?? writing;
  } catch (error) {
    await closeReading(reading);
    throw error;
  }
}

async function joinAll(
  reading: SourceReading,
  writing: SinkWriting,
  tickets: TicketReader,
  { plan, entry, source, nextSettled, onRows }: WriteOutputOptions,
): Promise<OutcomeTally> {
  const tally = new OutcomeTally(plan, reading.header);
  let rows = 0;
  for await (const chunk of reading.chunks) {
    const claims = await tickets.next(chunk.length * plan.width);
    let outcomes = outcomesOf(claims, plan);
    while (!outcomes) {
      if (!nextSettled) throw new Error('a row is to be written before its batch is settled');
      await nextSettled();
      outcomes = outcomesOf(claims, plan);
    }
    tally.add(outcomes, { chunk, from: 0 });
    const joined = { chunk, from: 0, to: chunk.length, outcomes, width: plan.width };
    for (const part of unsplitRows(joined)) await writing.write(part);
    rows += chunk.length;
    if (writing.givesBack === true) chunk.release?.();
    onRows(rows);
  }
  const content = reading.contentDigest?.() ?? null;
  if (!(await tickets.isAtEnd()) || rows !== entry.rows || content !== entry.content) {
    throw inputChanged(source.name);
  }
  return tally;
}

/** @returns `undefined` while one of them is unknown */
function outcomesOf(tickets: Uint32Array, plan: Plan): Uint32Array | undefined {
  const outcomes = new Uint32Array(tickets.length);
  for (let index = 0; index < outcomes.length; index += 1) {
    const outcome = plan.book.outcome(tickets[index] ?? 0);
    if (outcome === pending) return undefined;
    outcomes[index] = outcome;
  }
  return outcomes;
}

/** Ids restart after this many: by then no sink remembers the first ones. */
const mostIds = 2 ** 31;

/**
 * Adds the values of each cell itself (what was sent, which domain was meant), which its outcome does not
 * have: they are computed from the cell again, so that nothing is stored. Each cell has an id of its own in
 * place of its outcome's, valid while its rows are written.
 */
class PerCellValues {
  readonly #plan: Plan;
  #rows: JoinedRows | undefined;
  #first = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  readonly cellsOf: AddedCells['cellsOf'] = (id, column): readonly OutputCell[] => {
    const { rows, at, outcome } = this.#find(id);
    const row = rows.from + Math.floor(at / rows.width);
    return this.#plan.withPerCellValues(
      this.#plan.cellsOf(outcome, column),
      rows.chunk,
      row,
      column,
    );
  };

  readonly wholeCellsOf: AddedCells['cellsOf'] = (id, column) =>
    this.#plan.wholeCellsOf(this.#find(id).outcome, column);

  over(writing: SinkWriting): SinkWriting {
    let next = 0;
    return {
      givesBack: writing.givesBack ?? false,
      write: async (rows) => {
        const { length } = rows.outcomes;
        if (next + length > mostIds) next = 0;
        this.#rows = rows;
        this.#first = next;
        next += length;
        const ids = Uint32Array.from({ length }, (_, at) => this.#first + at);
        await writing.write({ ...rows, outcomes: ids });
      },
      finish: async () => writing.finish(),
      abort: async () => writing.abort(),
    };
  }

  #find(id: number): { readonly rows: JoinedRows; readonly at: number; readonly outcome: number } {
    const at = id - this.#first;
    const rows = this.#rows;
    const outcome = rows?.outcomes[at];
    if (rows === undefined || outcome === undefined) {
      throw new RangeError('cells are asked for whose rows are not being written');
    }
    return { rows, at, outcome };
  }
}
