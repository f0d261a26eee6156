import { posix } from 'node:path';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import { attribute, editXml, withAttribute, XmlError } from './scan-xml.js';
import type { SheetTable, Workbook } from './workbook.js';
import { addStyles, anyRefersTo, editMain, tableNames, type OutputStyle } from './xlsx-parts.js';
import { readRelations, type Relation, relationsOf } from './zip/archive.js';
import { partKey } from './zip/zip-reader.js';
import type { ZipWriter } from './zip/zip-writer.js';

/** Why a workbook's other sheets are not in an output. */
type NotKept = 'dates_1904' | 'form' | 'macros' | 'references' | 'size';

export interface OtherSheets {
  readonly input: string;
  readonly names: readonly string[];
  /** The workbook that keeps them, or why there is none. */
  readonly kept: KeptWorkbook | NotKept;
}

interface KeptParts {
  /** What the read sheets, or the workbook, lose. */
  readonly lost: readonly Lost[];
  readonly copied: readonly string[];
  /** Edited parts, without the sheets and the styles. */
  readonly edited: ReadonlyMap<string, string>;
  readonly styles: { readonly part: string; readonly xml: string };
}

/** A workbook in which the read sheets are written again and all others stay. */
export class KeptWorkbook {
  readonly lost: readonly Lost[];
  readonly firstStyle: number;
  readonly #parts: KeptParts;
  readonly #workbook: Workbook;

  constructor(workbook: Workbook, parts: KeptParts) {
    this.#workbook = workbook;
    this.#parts = parts;
    this.lost = parts.lost;
    this.firstStyle = workbook.styles.length;
  }

  partOf(sheet: string): string {
    const target = this.#workbook.listed.find(({ name }) => name === sheet)?.part?.target ?? '';
    return this.#workbook.archive.entry(target).name;
  }

  /** Writes everything but the read sheets and the styles. */
  async writeTo(zip: ZipWriter): Promise<void> {
    const { archive } = this.#workbook;
    for (const [name, xml] of this.#parts.edited) {
      await zip.begin(archive.entry(name).name);
      await zip.write(Buffer.from(xml));
      await zip.close();
    }
    for (const name of this.#parts.copied)
      await zip.copy(archive.entry(name), archive.stored(name));
  }

  stylesWith(added: readonly OutputStyle[]): readonly [name: string, xml: string] {
    const { part, xml } = this.#parts.styles;
    return [this.#workbook.archive.entry(part).name, addStyles(xml, added)];
  }
}

/** What is lost: of the workbook, and of the sheets that are written again. */
type Lost = (typeof lostWith)[number][1] | 'macros' | 'names';

/** By the end of a relation's type. */
const lostWith = [
  ['/table', 'tables'],
  ['/drawing', 'drawings'],
  ['/comments', 'comments'],
  ['/pivotTable', 'pivot tables'],
] as const;

const mostEditedBytes = 16 * 1024 * 1024;
/** An archive is at most four GiB, and the read sheets are added. */
const mostCopiedBytes = 1024 * 1024 * 1024;
const mostParts = 60_000;

/** Determines how a workbook's unread sheets stay in an output. @returns `undefined` without any */
export async function keepOtherSheets(
  workbook: Workbook,
  tables: readonly SheetTable[],
): Promise<OtherSheets | undefined> {
  const read = new Set(tables.flatMap(({ sheets }) => sheets));
  const others = workbook.listed.filter(({ name }) => !read.has(name));
  if (others.length === 0) return undefined;
  const hasMacros = others.some(({ part }) => /macrosheet$/i.test(part?.type ?? ''));
  return {
    input: workbook.archive.name,
    names: others.map(({ name }) => name),
    kept: workbook.is1904
      ? 'dates_1904'
      : hasMacros
        ? 'macros'
        : await keepSheets(workbook, tables).catch(refuseToKeep),
  };
}

/** Unreadable parts that were not requested do not end a run. */
function refuseToKeep(error: unknown): NotKept {
  if (error instanceof XmlError || isSluiceError(error, 'input_malformed')) return 'form';
  throw error;
}

async function keepSheets(
  workbook: Workbook,
  tables: readonly SheetTable[],
): Promise<KeptWorkbook | NotKept> {
  const { archive, main, listed } = workbook;
  const partsOf = (names: readonly string[]): ReadonlySet<string> =>
    new Set(
      listed.flatMap(({ name, part }) =>
        part && names.includes(name) ? [partKey(part.target)] : [],
      ),
    );
  const merged = tables.flatMap(({ sheets }) => sheets.slice(1));
  const sheets = {
    written: partsOf(tables.flatMap(({ sheets: [first = ''] }) => first)),
    merged: partsOf(merged),
  };
  const found = await findParts(workbook, sheets);
  const { parts, lost } = found;
  const styles = found.relations.find(({ type }) => type.endsWith('/styles'))?.target;
  if (styles === undefined || workbook.styles.length === 0) return 'form';
  const edited = [contentTypes, main, relationsOf(main), relationsOf(''), styles];
  if (edited.some((name) => archive.bytes(name) > mostEditedBytes)) return 'size';
  const copied = [...parts].filter((key) => !edited.some((name) => partKey(name) === key));
  const bytes = copied.reduce((sum, name) => sum + archive.entry(name).compressedBytes, 0);
  if (bytes > mostCopiedBytes || copied.length > mostParts) return 'size';
  if (copied.some((name) => archive.entry(name).isEncrypted)) return 'form';
  // Checked before the run is paid for.
  for (const name of copied) await archive.checkStored(name);
  const gone = { tables: await tableNames(workbook, found.tables), sheets: merged };
  if (found.hasSlicers && (lost.has('tables') || lost.has('pivot tables'))) return 'references';
  if (await anyRefersTo(gone, workbook, copied)) return 'references';
  const xml = await archive.text(main);
  // Its parts would be of another dialect than the new ones.
  if (xml.includes('purl.oclc.org')) return 'form';
  const book = editMain(xml, workbook, { tables, gone });
  if (book.hasLostNames) lost.add('names');
  const withoutRelations = async (part: string): Promise<string> =>
    editXml(await archive.text(relationsOf(part)), {
      Relationship: ({ attributes, whole }) =>
        found.dropped.has(`${part} ${attribute(attributes, 'Id') ?? ''}`) ? '' : whole,
    });
  const types = editXml(await archive.text(contentTypes), {
    Override({ tag, attributes, whole }) {
      const name = partKey(attribute(attributes, 'PartName') ?? '');
      if (name === partKey(main)) {
        return `<${tag}${withAttribute(attributes, 'ContentType', mainType)}/>`;
      }
      return parts.has(name) || sheets.written.has(name) ? whole : '';
    },
  });
  return new KeptWorkbook(workbook, {
    lost: [...lost],
    copied,
    edited: new Map([
      [contentTypes, types],
      [relationsOf(''), await withoutRelations('')],
      [main, book.xml],
      [relationsOf(main), await withoutRelations(main)],
    ]),
    styles: { part: styles, xml: await archive.text(styles) },
  });
}

const contentTypes = '[Content_Types].xml';
/** Also for one with macros, or a template. */
const mainType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml';

interface FoundParts {
  readonly parts: ReadonlySet<string>;
  /** Dropped relations, by part and id. */
  readonly dropped: ReadonlySet<string>;
  readonly relations: readonly Relation[];
  readonly lost: Set<Lost>;
  readonly tables: readonly string[];
  readonly hasSlicers: boolean;
}

/** The parts reachable without those sheets. */
async function findParts(
  { archive, main }: Workbook,
  {
    written,
    merged,
  }: { readonly written: ReadonlySet<string>; readonly merged: ReadonlySet<string> },
): Promise<FoundParts> {
  const parts = new Set([partKey(contentTypes)]);
  const dropped = new Set<string>();
  const lost = new Set<Lost>();
  const tables: string[] = [];
  let relations: readonly Relation[] = [];
  let hasSlicers = false;
  const waiting = [''];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const found = await readRelations(archive, relationsOf(part), posix.dirname(part));
    if (part === main) relations = found;
    if (written.has(partKey(part)) || merged.has(partKey(part))) {
      for (const { type, target } of found) {
        for (const [ending, what] of lostWith) if (type.endsWith(ending)) lost.add(what);
        if (type.endsWith('/table')) tables.push(target);
      }
      continue;
    }
    if (archive.has(relationsOf(part))) parts.add(partKey(relationsOf(part)));
    for (const { id, type, target, isOutside } of found) {
      if (isOutside || !archive.has(target)) continue;
      const isMacro = type.endsWith('/vbaProject');
      if (isMacro) lost.add('macros');
      // The calculation chain and signatures would be invalid.
      const isDropped =
        isMacro ||
        merged.has(partKey(target)) ||
        type.endsWith('/calcChain') ||
        type.includes('/digital-signature/');
      if (isDropped) dropped.add(`${part} ${id}`);
      hasSlicers ||= /\/(?:slicer|timeline)Cache$/.test(type);
      if (parts.has(partKey(target)) || (isDropped && !merged.has(partKey(target)))) continue;
      if (!written.has(partKey(target)) && !isDropped) parts.add(partKey(target));
      waiting.push(target);
    }
  }
  return { parts, dropped, relations, lost, tables, hasSlicers };
}
