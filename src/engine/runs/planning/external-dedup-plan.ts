import { join } from 'node:path';
import { OutputError } from '../../../platform/errors/errors.js';
import type { FileSystem } from '../../../platform/files/file-system.js';
import { onDisk } from '../../../platform/files/disk-errors.js';
import { counted, grouped } from '../../../platform/text/shown-numbers.js';
import { laterTicket } from '../../plan/address-book.js';
import { ExternalDedup } from '../../plan/external-dedup.js';
import type { Plan } from '../../plan/plan.js';
import type { RunScratch } from '../../stores/scratch.js';
import { DiskStorage } from './batch-files.js';
import { TicketFile } from './ticket-file.js';
import { optionName } from '../../../platform/text/sentence.js';

const portion = 64 * 1024;

interface Place {
  readonly files: FileSystem;
  readonly scratch: RunScratch;
  readonly signal: AbortSignal;
}

/**
 * Plans a list that is too large for one table, from the chunk on that shows it: cells and tickets wait on
 * disk until the list is read to its end. A kill loses nothing: the next process reads the list again.
 */
export class ExternalDedupPlan {
  readonly #place: Place;
  readonly #plan: Plan;
  readonly #storage: DiskStorage;
  readonly #partitions: ExternalDedup;
  readonly #tickets: TicketFile;
  #cells = 0;

  private constructor(place: Place, plan: Plan, storage: DiskStorage, tickets: TicketFile) {
    this.#place = place;
    this.#plan = plan;
    this.#storage = storage;
    this.#tickets = tickets;
    this.#partitions = new ExternalDedup({ storage, known: plan.book.size });
  }

  static async begin(place: Place, plan: Plan): Promise<ExternalDedupPlan> {
    const { files, scratch } = place;
    await onDisk(`write ${scratch.partitionsPath}`, async () => {
      await files.rm(scratch.partitionsPath, { recursive: true, force: true });
      await files.mkdir(scratch.partitionsPath, { recursive: true, mode: 0o700 });
    });
    const storage = new DiskStorage(files, scratch.partitionsPath);
    const tickets = await TicketFile.create(files, join(scratch.partitionsPath, 'tickets'));
    const begun = new ExternalDedupPlan(place, plan, storage, tickets);
    try {
      for (const { shard, slots } of plan.book.handOver()) {
        begun.#partitions.addKnown(shard, slots);
        await storage.flush();
      }
    } catch (error) {
      await begun.remove();
      throw error;
    }
    plan.planner.numberLater(begun.#partitions);
    return begun;
  }

  async append(tickets: Uint32Array): Promise<void> {
    this.#cells += tickets.length;
    await this.#tickets.append(tickets);
    await this.#storage.flush();
  }

  /** Numbers all cells once the list is read. @param write takes the tickets in order */
  async number(write: (tickets: Uint32Array) => Promise<void>): Promise<void> {
    const { files, scratch, signal } = this.#place;
    await this.#partitions.findRepeated(async () => {
      signal.throwIfAborted();
      await this.#storage.flush();
    });
    // Batches will take as many bytes again as the lines, besides each cell's ticket.
    const { lineBytes } = this.#partitions;
    const neededBytes = lineBytes + this.#cells * Uint32Array.BYTES_PER_ELEMENT;
    await checkFree(files, scratch.path, () => neededBytes, 'the batches of the list take');
    const numbered = this.#plan.planner.numberNow();
    const kept = this.#tickets.read();
    try {
      for (let left = this.#cells; left > 0; left -= portion) {
        signal.throwIfAborted();
        const tickets = await kept.next(Math.min(left, portion));
        const later = tickets.reduce((sum, ticket) => sum + (ticket === laterTicket ? 1 : 0), 0);
        const numbers = await numbered.next(later);
        for (let [at, next] = [0, 0]; next < later; at += 1) {
          if (tickets[at] !== laterTicket) continue;
          tickets[at] = numbers[next] as number;
          next += 1;
        }
        await write(tickets);
      }
    } finally {
      await kept.close();
      await numbered.close();
    }
  }

  /** Removes its files, also after a failed planning. */
  async remove(): Promise<void> {
    const { files, scratch } = this.#place;
    await this.#tickets.close();
    await onDisk(`remove ${scratch.partitionsPath}`, async () =>
      files.rm(scratch.partitionsPath, { recursive: true, force: true }),
    );
  }
}

/** A result takes eight bytes and its share of the distinct ones, allowed as much again. */
const resultBytesPerAddress = 16;

/** Warns before anything is paid if the results would not fit beside the state directory. */
export async function checkDiskSpace(
  files: FileSystem,
  stateDir: string,
  { batches, addresses }: { readonly batches: number; readonly addresses: number },
): Promise<void> {
  await checkFree(
    files,
    stateDir,
    // Each batch has a file of its own, which begins a block.
    ({ bsize }) => addresses * resultBytesPerAddress + batches * bsize,
    `the results of ${counted(addresses, 'address')} take`,
  );
}

async function checkFree(
  files: FileSystem,
  stateDir: string,
  needs: (disk: { readonly bsize: number }) => number,
  what: string,
): Promise<void> {
  const { bavail, bsize } = await onDisk(`look at the disk of ${stateDir}`, async () =>
    files.statfs(stateDir),
  );
  const freeBytes = bavail * bsize;
  const neededBytes = needs({ bsize });
  if (freeBytes >= neededBytes) return;
  throw new OutputError(
    `the disk of the state directory ${stateDir} has ${shownSize(freeBytes)} free, and ${what} about ${shownSize(neededBytes)}: make room, or name a state directory elsewhere with ${optionName('stateDir')}`,
  );
}

/** In the smaller unit while the larger is too coarse to compare. */
function shownSize(bytes: number): string {
  return bytes < 10_000_000
    ? `${grouped(Math.ceil(bytes / 1000))} KB`
    : `${grouped(Math.ceil(bytes / 1_000_000))} MB`;
}
