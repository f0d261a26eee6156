import * as z from 'zod';
import type { HashWords } from '../../platform/hashing/address-table.js';
import type { LaunchCost, LaunchedBatch } from '../plan/result-cache.js';
import { countryCodes } from '../../contract/countries.js';
import { verificationTypes } from '../../contract/enums.js';
import { hashAt } from './history-entries.js';
import { entryWords, maxFrameEntries, type Frame } from './history-file.js';

/** JSON of a frame whose entries are the hashes of a batch about to be launched. */
const launchedMeta = z.object({
  launched: z.object({
    batchUuid: z.string(),
    type: z.enum(verificationTypes),
    country: z.enum(countryCodes),
    run: z.string().optional(),
    launchedAtMs: z.number(),
  }),
});
/** A frame that precedes a stream's first upload. */
const uploadsMeta = z.object({ uploads: z.string() });
/** Its results are among the entries, or will never arrive. */
const overMeta = z.object({
  over: z.string(),
  cost: z
    .object({
      type: z.enum(verificationTypes),
      addresses: z.number(),
      spent: z.number().optional(),
      refunded: z.number().optional(),
    })
    .optional(),
});
export type LaunchedCost = NonNullable<z.infer<typeof overMeta>['cost']>;

type LaunchNote = Omit<LaunchedBatch, 'addresses' | 'hashes'>;

interface Launched {
  readonly note: LaunchNote;
  readonly entries: Uint32Array[];
}

/** Launched batches whose results a history lacks, by uuid, in order; and what all have cost. */
export class LaunchedBatches {
  readonly #batches = new Map<string, Launched>();
  /** Ids of streams that may have unlaunched uploads. */
  readonly #uploads = new Set<string>();
  /** By uuid: which object of this process awaits the results. */
  readonly #owners = new Map<string, object>();
  readonly #gone = new WeakSet();
  /** Of batches that are over, by uuid. */
  readonly #costs = new Map<string, LaunchedCost>();
  #superseded = 0;

  /** Entries of batches that are over. */
  get superseded(): number {
    return this.#superseded;
  }

  /** @param id a batch_uuid, or the id of a stream */
  has(id: string): boolean {
    return this.#batches.has(id) || this.#uploads.has(id);
  }

  knowsCost(batchUuid: string, { charge }: LaunchCost): boolean {
    const known = this.#costs.get(batchUuid);
    return known !== undefined && (charge === undefined || known.spent !== undefined);
  }

  /** Those that are over first; the others may not have been launched. */
  costs(): readonly LaunchedCost[] {
    const others = [...this.#batches.keys()].filter((uuid) => !this.#costs.has(uuid));
    return [...this.#costs.values(), ...others.flatMap((uuid) => this.#costAtMost(uuid) ?? [])];
  }

  /** @returns whether the frame is one of these */
  take({ meta, entries }: Frame): boolean {
    const over = overMeta.safeParse(meta);
    if (over.success) {
      const { over: id, cost = this.#costAtMost(id) } = over.data;
      const isKnown = cost?.spent !== undefined;
      if (cost && (isKnown || !this.#costs.has(id))) this.#costs.set(id, cost);
      this.#superseded += this.#addresses(id);
      this.#batches.delete(id);
      this.#uploads.delete(id);
      this.#owners.delete(id);
      return true;
    }
    const uploads = uploadsMeta.safeParse(meta);
    if (uploads.success) {
      this.#uploads.add(uploads.data.uploads);
      return true;
    }
    const parsed = launchedMeta.safeParse(meta);
    if (!parsed.success) return false;
    const { type, country, run, ...noted } = parsed.data.launched;
    const known = this.#batches.get(noted.batchUuid);
    const note = { ...noted, group: { type, country }, run };
    if (known) known.entries.push(entries);
    else this.#batches.set(note.batchUuid, { note, entries: [entries] });
    return true;
  }

  assignTo(id: string, owner: object): void {
    this.#owners.set(id, owner);
  }

  release(owner: object): void {
    this.#gone.add(owner);
  }

  takeOver(owner: object, isWanted: (batch: LaunchedBatch) => boolean): readonly LaunchedBatch[] {
    const wanted = [...this.#batches].flatMap(([batchUuid, { note }]) => {
      const batch = {
        ...note,
        addresses: this.#addresses(batchUuid),
        hashes: () => hashesOf(this.#batches.get(batchUuid)?.entries ?? []),
      };
      return isWanted(batch) ? [batch] : [];
    });
    const uuids = wanted.map(({ batchUuid }) => batchUuid);
    const taken = new Set(this.#takeOver(uuids, owner));
    return wanted.filter(({ batchUuid }) => taken.has(batchUuid));
  }

  /** The addresses of batches that another object awaits. */
  *awaitedByOthers(owner: object): Generator<HashWords> {
    for (const [batchUuid, { entries }] of this.#batches) {
      const other = this.#owners.get(batchUuid);
      if (other !== owner && other !== undefined && !this.#gone.has(other))
        yield* hashesOf(entries);
    }
  }

  /** The same for streams, by id. */
  takeOverUploads(owner: object): readonly string[] {
    return this.#takeOver(this.#uploads, owner);
  }

  #takeOver(ids: Iterable<string>, owner: object): readonly string[] {
    const free = [...ids].filter((id) => {
      const before = this.#owners.get(id);
      return before === undefined || this.#gone.has(before);
    });
    for (const id of free) this.assignTo(id, owner);
    return free;
  }

  /** The frames that a rewritten file needs, without some addresses. */
  *frames(isKept: (hash: HashWords) => boolean = () => true): Generator<Frame> {
    for (const runId of this.#uploads) yield uploadsFrame(runId);
    for (const [uuid, cost] of this.#costs) yield overFrame(uuid, cost);
    for (const { note, entries } of this.#batches.values()) {
      yield* launchedFrames(note, [...hashesOf(entries)].filter(isKept));
    }
  }

  #costAtMost(batchUuid: string): LaunchedCost | undefined {
    const { type } = this.#batches.get(batchUuid)?.note.group ?? {};
    return type && { type, addresses: this.#addresses(batchUuid) };
  }

  #addresses(batchUuid: string): number {
    return addressesIn(this.#batches.get(batchUuid)?.entries ?? []);
  }
}

export function addressesIn(entries: readonly Uint32Array[]): number {
  return entries.reduce((sum, { length }) => sum + length / entryWords, 0);
}

/** @param id a batch_uuid, or the id of a stream */
export function overFrame(id: string, cost: LaunchedCost | undefined): Frame {
  return { meta: { over: id, ...(cost && { cost }) }, entries: new Uint32Array() };
}

export function costOf({ type, addresses, charge }: LaunchCost): LaunchedCost {
  return { type, addresses, ...(charge && { spent: charge.spent, refunded: charge.refunded }) };
}

export function uploadsFrame(runId: string): Frame {
  return { meta: { uploads: runId }, entries: new Uint32Array() };
}

export function launchedFrames(
  { group, ...noted }: LaunchNote,
  hashes: readonly HashWords[],
): Generator<Frame> {
  return hashFrames({ launched: { ...noted, ...group } }, hashes);
}

export function* hashFrames(meta: unknown, hashes: readonly HashWords[]): Generator<Frame> {
  for (let from = 0; from === 0 || from < hashes.length; from += maxFrameEntries) {
    const part = hashes.slice(from, from + maxFrameEntries);
    const entries = new Uint32Array(part.length * entryWords);
    let at = 0;
    for (const { word0, word1, word2, word3 } of part) {
      entries[at] = word0;
      entries[at + 1] = word1;
      entries[at + 2] = word2;
      entries[at + 3] = word3 & 127;
      at += entryWords;
    }
    yield { meta, entries };
  }
}

/** The hashes in the entries of frames: of these lines, or of all. */
export function* hashesOf(
  entries: readonly Uint32Array[],
  { start, end } = { start: 0, end: Infinity },
): Generator<HashWords> {
  let line = 0;
  for (const some of entries) {
    for (let at = 0; at < some.length; at += entryWords) {
      if (line >= start && line < end) yield hashAt(some, at);
      line += 1;
    }
  }
}
