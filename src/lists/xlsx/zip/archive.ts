import { posix } from 'node:path';
import { TextDecoder } from 'node:util';
import { InputError, type ErrorFault } from '../../../platform/errors/errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import type { RandomFile } from '../../files/bytes/random-file.js';
import { detectEncoding } from '../../files/bytes/text-encoding.js';
import { attribute, scanXml, XmlError, type XmlToken } from '../scan-xml.js';
import { partKey, readZipEntry, storedBytes, storedRange, type ZipEntry } from './zip-reader.js';

export class Archive {
  readonly #file: RandomFile;
  readonly #entries: ReadonlyMap<string, ZipEntry>;

  constructor(file: RandomFile, entries: ReadonlyMap<string, ZipEntry>) {
    this.#file = file;
    this.#entries = entries;
  }

  get name(): string {
    return this.#file.name;
  }

  has(name: string): boolean {
    return this.#entries.has(partKey(name));
  }

  bytes(name: string): number {
    return this.#entries.get(partKey(name))?.bytes ?? 0;
  }

  entry(name: string): ZipEntry {
    const entry = this.#entries.get(partKey(name));
    if (entry === undefined) throw this.broken(`it has no part ${JSON.stringify(name)}`);
    return entry;
  }

  stored(name: string): AsyncGenerator<Buffer> {
    return storedBytes(this.#file, this.entry(name));
  }

  async checkStored(name: string): Promise<void> {
    await storedRange(this.#file, this.entry(name));
  }

  /** The whole text of a part other than a sheet. */
  async text(name: string): Promise<string> {
    const pieces: Buffer[] = [];
    for await (const piece of readZipEntry(this.#file, this.entry(name))) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    return new TextDecoder(detectEncoding(bytes)).decode(bytes);
  }

  async *scan(name: string): AsyncGenerator<XmlToken[]> {
    const entry = this.entry(name);
    try {
      yield* scanXml(readZipEntry(this.#file, entry));
    } catch (error) {
      this.#file.signal?.throwIfAborted();
      if (isSluiceError(error)) throw error;
      if (error instanceof XmlError) throw this.broken(error.message, error.fault);
      throw this.broken('a part of it is not XML');
    }
  }

  broken(why: string, fault: ErrorFault = 'damaged'): InputError {
    return new InputError(`${this.#file.name} cannot be read as XLSX: ${why}`, { fault });
  }
}

export interface Relation {
  readonly id: string;
  readonly type: string;
  readonly target: string;
  readonly isOutside: boolean;
}

export function relationsOf(part: string): string {
  return posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`);
}

export async function readRelations(
  archive: Archive,
  part: string,
  folder: string,
): Promise<readonly Relation[]> {
  const relations: Relation[] = [];
  if (!archive.has(part)) return relations;
  for await (const tokens of archive.scan(part)) {
    for (const token of tokens) {
      if (token.kind !== 'open' || token.name !== 'Relationship') continue;
      const target = (attribute(token.attributes, 'Target') ?? '').replaceAll('\\', '/');
      relations.push({
        id: attribute(token.attributes, 'Id') ?? '',
        type: attribute(token.attributes, 'Type') ?? '',
        target: target.startsWith('/') ? target.slice(1) : posix.join(folder, target),
        isOutside: attribute(token.attributes, 'TargetMode') === 'External',
      });
    }
  }
  return relations;
}
