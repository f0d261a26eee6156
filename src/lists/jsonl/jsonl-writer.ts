import { CombinedChunk } from '../rows/sources/combine-headers.js';
import { integerForm, type Kind } from '../rows/values/kinds.js';
import type { RowChunk } from '../rows/chunks/row-chunk.js';
import { type JoinedRows, type OpenSinkOptions, OutcomeForms } from '../rows/sink.js';
import { printJson } from '../rows/values/print-value.js';
import { BlockOutput, type ByteOutput } from '../files/outputs/byte-output.js';
import { JsonlChunk } from './jsonl-chunk.js';
import { lineEnd } from '../files/bytes/line-feed.js';
import { refuseRepeatedNames, TableRows, tableValidator } from '../rows/chunks/table-rows.js';
import { reportTextCells } from '../rows/values/kind-tally.js';
import type { FormatWriting, RowsWriter } from '../files/writer-sink.js';

const lineFeed = Buffer.from('\n');
const closing = Buffer.from('}');
const closingByte = 0x7d;
const openingByte = 0x7b;

/** Writes joined rows as JSON lines: JSONL rows are copied, with new members before the last brace. */
class JsonlWriter implements RowsWriter {
  readonly #block: BlockOutput;
  readonly #rows: TableRows;
  readonly #names: readonly string[];
  readonly #members: OutcomeForms<Buffer>;
  /** The previous row had no line end, as a file's last row may: another row needs one. */
  #owesLineEnd = false;

  constructor(output: ByteOutput, opening: OpenSinkOptions) {
    this.#block = new BlockOutput(output);
    this.#rows = new TableRows(opening.reading.header.length);
    this.#names = opening.reading.header.map((name) => JSON.stringify(name));
    const added = opening.added.map((columns) => columns.map(({ name }) => JSON.stringify(name)));
    this.#members = new OutcomeForms(opening, (cells, column) =>
      Buffer.from(
        cells.map((cell, at) => `,${added[column]?.[at] ?? ''}:${printJson(cell)}`).join(''),
      ),
    );
  }

  async write(rows: JoinedRows): Promise<void> {
    const { chunk, from, to, outcomes, width } = rows;
    const copied = copiedRows(chunk);
    for (let row = from; row < to; row += 1) {
      const members: Buffer[] = [];
      for (let column = 0; column < width; column += 1) {
        members.push(this.#members.of(column, outcomes[(row - from) * width + column]));
      }
      if (this.#owesLineEnd) this.#block.put(lineFeed);
      if (copied) this.#copyRow(copied, row, members);
      else this.#encodeRow(chunk, row, members);
    }
    await this.#block.settle();
  }

  async end(): Promise<void> {
    await this.#block.end();
  }

  #copyRow(chunk: JsonlChunk, row: number, members: readonly Buffer[]): void {
    const { bytes } = chunk;
    const [start, next] = chunk.bounds(row);
    const end = lineEnd(bytes, start, next);
    const brace = bytes.lastIndexOf(closingByte, end - 1);
    this.#block.put(bytes.subarray(start, brace));
    this.#putMembers(members, isEmptyObject(bytes, start, brace));
    this.#block.put(bytes.subarray(brace, next));
    this.#owesLineEnd = next === end;
  }

  #encodeRow(chunk: RowChunk, row: number, members: readonly Buffer[]): void {
    const cells = this.#rows.read(chunk, row);
    const cellMembers = chunk.path
      ? nestedMembers(chunk, cells)
      : this.#names.map((name, column) => `${name}:${printJson(cells[column])}`).join(',');
    this.#block.put(Buffer.from(`{${cellMembers}`));
    this.#putMembers(members, cellMembers === '');
    this.#block.put(closing);
    this.#block.put(lineFeed);
    this.#owesLineEnd = false;
  }

  #putMembers(members: readonly Buffer[], isFirst: boolean): void {
    for (const [column, member] of members.entries()) {
      this.#block.put(isFirst && column === 0 ? member.subarray(1) : member);
    }
  }
}

export const jsonlWriting: FormatWriting = {
  create(output, opening) {
    // Properties that only rows show are reported where they are first examined.
    reportTextCells({ ...opening, output: 'JSONL' }, isJsonKind);
    return new JsonlWriter(output, opening);
  },
  validate(reading, { onTextColumn }) {
    const report = reportTextCells({ reading, output: 'JSONL', onTextColumn }, isJsonKind);
    const validate = tableValidator(reading, report);
    let isChecked = false;
    return (chunk) => {
      // Copied rows need no check.
      if (copiedRows(chunk)) return;
      if (!isChecked) refuseRepeatedNames(reading.header, 'JSON');
      isChecked = true;
      validate(chunk);
    };
  },
};

function copiedRows(chunk: RowChunk): JsonlChunk | undefined {
  const copied = chunk instanceof CombinedChunk ? chunk.copied : chunk;
  return copied instanceof JsonlChunk ? copied : undefined;
}

/** The members of a row whose cells come from nested objects, as JSON without the braces. */
function nestedMembers(chunk: RowChunk, cells: readonly unknown[]): string {
  const row = Object.create(null) as Record<string, unknown>;
  for (const [column, cell] of cells.entries()) {
    const path = chunk.path?.(column) ?? [];
    const name = path.at(-1);
    if (cell === undefined || name === undefined) continue;
    let object = row;
    for (const outer of path.slice(0, -1)) {
      object = (object[outer] ??= Object.create(null)) as typeof row;
    }
    object[name] = cell;
  }
  return printJson(row).slice(1, -1);
}

/** Whether JSON represents a value of this kind unambiguously. */
export function isJsonKind({ name, scale }: Kind, value?: unknown): boolean {
  switch (name) {
    case 'float32':
    case 'float64':
      return typeof value !== 'number' || Number.isFinite(value);
    case 'decimal':
      return scale === 0;
    default:
      return (
        name === 'text' || name === 'boolean' || name === 'json' || integerForm(name) !== undefined
      );
  }
}

/** Whether only white space follows the opening brace: only then may it be the last. */
function isEmptyObject(bytes: Uint8Array, from: number, brace: number): boolean {
  let at = brace - 1;
  while (at > from && (bytes[at] as number) <= 0x20) at -= 1;
  return bytes[at] === openingByte;
}
