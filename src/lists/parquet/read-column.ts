import type { ColumnMetaData, DecodedArray, PageHeader, SchemaElement } from 'hyparquet';
import {
  type CopiedChunk,
  DamagedParquet,
  type Hyparquet,
  type StoredValues,
  viewOf,
} from './hyparquet.js';
import { isList, nodeOf, type SchemaNode } from './schema-node.js';

type Holder = Record<number | string, unknown>;

/** A step of a leaf's value from its row to its place. */
type Step =
  | { readonly is: 'member'; readonly name: string }
  | {
      /** Into a list or a group; below this definition level it is absent. */
      readonly is: 'into';
      readonly level: number;
      readonly make: () => Holder | unknown[];
      /** Whether another leaf has built it. */
      isBuilt: boolean;
    }
  | {
      /** To an item of the list; below this definition level it has none. */
      readonly is: 'item';
      readonly level: number;
      readonly depth: number;
      isBuilt: boolean;
    };

interface Leaf {
  readonly path: readonly SchemaElement[];
  readonly steps: readonly Step[];
  /** Definition level of a present value. */
  readonly level: number;
  readonly depth: number;
}

/**
 * Reads a column in stored form: groups as objects, lists as arrays. Each leaf's values go directly to their
 * place in the rows: the package's nested lists would take many times the memory.
 *
 * @param elements of the column, without logical types except lists
 * @throws Error for inconsistent pages
 */
export function readColumn(
  chunks: readonly CopiedChunk[],
  elements: readonly SchemaElement[],
  rowCount: number,
  hyparquet: Hyparquet,
): StoredValues {
  const rows = Array.from({ length: rowCount }, (): unknown => undefined);
  const root = nodeOf(elements);
  for (const leaf of leavesOf(root, { path: [], steps: [], level: 0, depth: 0 })) {
    const chunk = chunks.find(
      ({ data: { path_in_schema: path } }) =>
        path.length === leaf.path.length && path.every((name, at) => name === leaf.path[at]?.name),
    );
    if (!chunk) throw new DamagedParquet('column has no data');
    readLeaf(pagesOf(chunk, leaf, hyparquet), leaf, rows);
  }
  return rows;
}

function leavesOf(node: SchemaNode, above: Leaf): readonly Leaf[] {
  const { element, children } = node;
  const path = [...above.path, element];
  let { steps, level, depth } = above;
  const list = (): void => {
    steps = [...steps, { is: 'into', level, make: () => [], isBuilt: false }];
    level += 1;
    depth += 1;
    steps = [...steps, { is: 'item', level, depth, isBuilt: false }];
  };
  if (element.repetition_type === 'REPEATED') list();
  else if (element.repetition_type === 'OPTIONAL') level += 1;
  const [first] = children;
  if (!first) return [{ path, steps, level, depth }];
  if (isList(node)) {
    list();
    const [item] = first.children;
    const inner = { path: [...path, first.element], steps, level, depth };
    return item ? leavesOf(item, inner) : [inner];
  }
  const empty: Holder = Object.fromEntries(
    children.map((child) => [child.element.name, undefined]),
  );
  steps = [...steps, { is: 'into', level, make: () => ({ ...empty }), isBuilt: false }];
  return children.flatMap((child) =>
    leavesOf(child, {
      path,
      steps: [...steps, { is: 'member', name: child.element.name }],
      level,
      depth,
    }),
  );
}

interface Page {
  readonly definitionLevels: readonly number[] | undefined;
  readonly repetitionLevels: readonly number[];
  readonly values: DecodedArray;
}

function* pagesOf(
  { bytes, data }: CopiedChunk,
  leaf: Leaf,
  { pages, compressors }: Hyparquet,
): Generator<Page> {
  const { path } = leaf;
  const decoder = decoderOf(data, path, compressors);
  const reader = { view: viewOf(bytes), offset: 0 };
  let dictionary: DecodedArray | undefined;
  while (reader.offset < bytes.length - 1) {
    const header = pages.parquetHeader(reader);
    const part = bytes.subarray(reader.offset, reader.offset + header.compressed_page_size);
    reader.offset += header.compressed_page_size;
    const inflate = () =>
      pages.decompressPage(part, header.uncompressed_page_size, data.codec, compressors);
    const { data_page_header: first, data_page_header_v2: second } = header;
    if (header.dictionary_page_header) {
      const from = { view: viewOf(inflate()), offset: 0 };
      dictionary = pages.readPlain(
        from,
        decoder.type,
        header.dictionary_page_header.num_values,
        decoder.element.type_length,
      );
    } else if (first || second) {
      const page = first
        ? pages.readDataPage(inflate(), first, decoder)
        : pages.readDataPageV2(part, withNullsOf(leaf, header, { part, pages }), decoder);
      const isCoded = (first ?? second)?.encoding.endsWith('_DICTIONARY') === true;
      yield {
        definitionLevels: page.definitionLevels,
        repetitionLevels: page.repetitionLevels,
        values: isCoded ? decode(page.dataPage, dictionary) : page.dataPage,
      };
    }
  }
}

/** Arrow counts no null for a list that is absent or empty, and such a page holds no value for it. */
function withNullsOf(
  { level, depth }: Leaf,
  header: PageHeader,
  { part, pages }: { readonly part: Uint8Array; readonly pages: Hyparquet['pages'] },
): PageHeader {
  const { data_page_header_v2: second } = header;
  if (!second || depth === 0) return header;
  const levels = new Uint8Array(second.num_values);
  const from = { view: viewOf(part), offset: second.repetition_levels_byte_length };
  const bits = 32 - Math.clz32(level);
  pages.readRleBitPackedHybrid(from, bits, levels, second.definition_levels_byte_length);
  const nulls = levels.reduce((sum, one) => sum + (one === level ? 0 : 1), 0);
  return { ...header, data_page_header_v2: { ...second, num_nulls: nulls } };
}

function decode(codes: DecodedArray, dictionary: DecodedArray | undefined): unknown[] {
  return Array.from(codes as ArrayLike<number>, (code) => {
    if (!dictionary || code >= dictionary.length) {
      throw new DamagedParquet('value is not in its dictionary');
    }
    return dictionary[code] as unknown;
  });
}

function decoderOf(
  data: ColumnMetaData,
  path: readonly SchemaElement[],
  compressors: Hyparquet['compressors'],
): Parameters<Hyparquet['pages']['readDataPageV2']>[2] {
  const schemaPath = [{ name: '' }, ...path].map((element) => ({
    element,
    children: [],
    count: 1,
    path: [],
  }));
  const element = path.at(-1) ?? { name: '' };
  const { type, codec, path_in_schema: pathInSchema } = data;
  return { type, codec, pathInSchema, element, schemaPath, compressors, parsers };
}

/** Nothing is parsed. */
const parsers = {} as Parameters<Hyparquet['pages']['readDataPageV2']>[2]['parsers'];

function readLeaf(pages: Iterable<Page>, leaf: Leaf, rows: unknown[]): void {
  const { steps } = leaf;
  const after = steps.flatMap((step, at) => (step.is === 'item' ? [at + 1] : []));
  /** The open lists by depth; the first are the rows. */
  const lists: (unknown[] | undefined)[] = [rows];
  const places: number[] = [-1];
  const close = (from: number): void => {
    for (let depth = from; depth <= leaf.depth; depth += 1) {
      const list = lists[depth];
      if (list && list.length !== (places[depth] ?? 0) + 1) throw new Error(unequal);
      lists[depth] = undefined;
    }
  };
  const put = (depth: number, level: number, value: unknown): void => {
    close(depth + 1);
    const open = lists[depth];
    if (!open) throw new Error(unequal);
    let key: number | string = (places[depth] ?? 0) + 1;
    places[depth] = key;
    let at = depth === 0 ? 0 : (after[depth - 1] ?? 0);
    const above = steps[at - 1];
    const mayGrow = above?.is === 'item' && !above.isBuilt;
    if (!mayGrow && key >= open.length) throw new Error(unequal);
    let holder = open as unknown as Holder;
    for (; at < steps.length; at += 1) {
      const step = steps[at];
      if (step?.is === 'member') key = step.name;
      else if (step?.is === 'into') {
        const existing: unknown = holder[key];
        if (level < step.level) {
          if (existing !== undefined) throw new Error(unequal);
          holder[key] = undefined;
          return;
        }
        if (step.isBuilt && existing === undefined) throw new Error(unequal);
        holder = (existing ?? (holder[key] = step.make())) as Holder;
      } else if (step) {
        const list = holder as unknown as unknown[];
        if (step.isBuilt && level < step.level !== (list.length === 0)) throw new Error(unequal);
        if (level < step.level) return;
        lists[step.depth] = list;
        key = 0;
        places[step.depth] = key;
      }
    }
    holder[key] = value;
  };
  for (const { definitionLevels, repetitionLevels, values } of pages) {
    if (steps.length === 0 && places[0] === rows.length - 1) break;
    const isAll = !definitionLevels?.length;
    const count = isAll ? repetitionLevels.length || values.length : definitionLevels.length;
    let next = 0;
    for (let at = 0; at < count; at += 1) {
      const level = isAll ? leaf.level : (definitionLevels[at] ?? 0);
      let value: unknown = null;
      if (level === leaf.level) {
        value = values[next];
        next += 1;
      }
      put(repetitionLevels[at] ?? 0, level, value);
    }
  }
  close(0);
  for (const step of steps) if (step.is !== 'member') step.isBuilt = true;
}

const unequal = 'parquet parts of a column have other rows or lists';
