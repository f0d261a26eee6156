import {
  type CopiedChunk,
  DamagedParquet,
  type Hyparquet,
  type StoredValues,
  viewOf,
} from './hyparquet.js';

/** A page of a column: its bytes, or the dictionary values that its rows share. */
interface Page {
  readonly row: number;
  readonly bytes?: Uint8Array;
  readonly dictionary?: readonly Uint8Array[];
}

/** Byte arrays by their positions in pages: an object for each cell of a row group takes several times its content. */
class ByteColumn implements StoredValues {
  readonly length: number;
  readonly #pages: Page[] = [];
  /** Start of a row's value in its page, or its number in the dictionary. */
  readonly #place: Uint32Array;
  /** Its length plus one, and 0 without a value. */
  readonly #size: Uint32Array;
  #current = 0;

  constructor(rows: number) {
    this.length = rows;
    this.#place = new Uint32Array(rows);
    this.#size = new Uint32Array(rows);
  }

  begin(page: Page): void {
    this.#pages.push(page);
  }

  set(row: number, place: number, size: number): void {
    this.#place[row] = place;
    this.#size[row] = size + 1;
  }

  at(row: number): Uint8Array | null {
    const size = this.#size[row];
    if (!size) return null;
    while ((this.#pages[this.#current]?.row ?? 0) > row) this.#current -= 1;
    while ((this.#pages[this.#current + 1]?.row ?? Infinity) <= row) this.#current += 1;
    const page = this.#pages[this.#current];
    const place = this.#place[row] ?? 0;
    return page?.dictionary?.[place] ?? page?.bytes?.subarray(place, place + size - 1) ?? null;
  }
}

/** The column to read: its rows, of which some may have no value. */
interface ByteColumnForm {
  readonly rows: number;
  readonly isOptional: boolean;
}

/** Reads a flat column of byte arrays, plain or dictionary; `undefined` for others. @throws Error for bad pages */
export function readByteColumn(
  { bytes, data: { codec } }: CopiedChunk,
  { rows, isOptional }: ByteColumnForm,
  { pages: { parquetHeader, decompressPage, readRleBitPackedHybrid }, compressors }: Hyparquet,
): StoredValues | undefined {
  const column = new ByteColumn(rows);
  const reader = { view: viewOf(bytes), offset: 0 };
  const inflate = (part: Uint8Array, size: number) =>
    decompressPage(part, size, codec, compressors);
  let dictionary: readonly Uint8Array[] = [];
  for (let row = 0; row < rows;) {
    const header = parquetHeader(reader);
    const size = header.uncompressed_page_size;
    const part = bytes.subarray(reader.offset, reader.offset + header.compressed_page_size);
    reader.offset += header.compressed_page_size;
    if (header.type === 'DICTIONARY_PAGE') {
      dictionary = plainValues(inflate(part, size), header.dictionary_page_header?.num_values ?? 0);
      continue;
    }
    const first = header.data_page_header;
    const second = header.data_page_header_v2;
    const { num_values: values = 0, encoding } = first ?? second ?? {};
    const isPlain = encoding === 'PLAIN';
    const isCoded = encoding === 'RLE_DICTIONARY' || encoding === 'PLAIN_DICTIONARY';
    if ((!isPlain && !isCoded) || values < 1 || row + values > rows) return undefined;
    const levels = isOptional ? new Uint8Array(values) : undefined;
    let page;
    let offset = 0;
    if (second) {
      const { definition_levels_byte_length: length, repetition_levels_byte_length: none } = second;
      if (none !== 0) return undefined;
      if (levels) readRleBitPackedHybrid({ view: viewOf(part), offset: 0 }, 1, levels, length);
      const rest = part.subarray(length);
      page = second.is_compressed === false ? rest : inflate(rest, size - length);
    } else {
      page = inflate(part, size);
      const from = { view: viewOf(page), offset: 0 };
      if (levels) readRleBitPackedHybrid(from, 1, levels);
      offset = from.offset;
    }
    column.begin(isPlain ? { row, bytes: page } : { row, dictionary });
    const view = viewOf(page);
    // Only values have codes.
    const codes = isCoded
      ? new Uint32Array(levels?.reduce((sum, level) => sum + level, 0) ?? values)
      : undefined;
    if (codes) {
      const width = view.getUint8(offset);
      const from = { view, offset: offset + 1 };
      if (width > 0) readRleBitPackedHybrid(from, width, codes, view.byteLength - from.offset);
    }
    let code = 0;
    for (let index = 0; index < values; index += 1) {
      if (levels?.[index] === 0) continue;
      if (codes) {
        const place = codes[code] ?? 0;
        code += 1;
        if (place >= dictionary.length) throw new DamagedParquet('value is not in its dictionary');
        column.set(row + index, place, 0);
      } else {
        const length = view.getUint32(offset, true);
        offset += 4 + length;
        if (offset > page.length) throw new DamagedParquet('value ends after its page');
        column.set(row + index, offset - length, length);
      }
    }
    row += values;
  }
  return column;
}

function plainValues(page: Uint8Array, count: number): readonly Uint8Array[] {
  const view = viewOf(page);
  let offset = 0;
  return Array.from({ length: count }, () => {
    const length = view.getUint32(offset, true);
    offset += 4 + length;
    if (offset > page.length) throw new DamagedParquet('value ends after its page');
    return page.subarray(offset - length, offset);
  });
}
