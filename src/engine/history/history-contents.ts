import { onDisk } from '../../platform/files/disk-errors.js';
import type { FileSystem } from '../../platform/files/file-system.js';
import type { HashWords } from '../../platform/hashing/address-table.js';
import { InTurn } from '../../platform/waiting/promises.js';
import type { OutcomeTable } from '../results/outcome-table.js';
import { FrameBuilder, HistoryEntries, type HistoryOrigin } from './history-entries.js';
import { type Frame, HistoryFile, historyHead } from './history-file.js';
import { createKeyLookup } from './history-lookup.js';
import { LaunchedBatches } from './launched-batches.js';
import { FinishedRuns } from './finished-runs.js';
import { PlannedRuns } from './planned-runs.js';

/** Superseded entries are dropped once they are as many as the others. */
const leastSuperseded = 50_000;

export class HistoryContents {
  readonly file: HistoryFile;
  readonly runs: FinishedRuns;
  readonly launched: LaunchedBatches;
  readonly planned: PlannedRuns;
  readonly #path: string;
  readonly #seed: Uint8Array;
  readonly #turns = new InTurn();
  #entries: HistoryEntries;

  private constructor(
    path: string,
    seed: Uint8Array,
    read: {
      readonly file: HistoryFile;
      readonly entries: HistoryEntries;
      readonly runs: FinishedRuns;
      readonly launched: LaunchedBatches;
      readonly planned: PlannedRuns;
    },
  ) {
    this.#path = path;
    this.#seed = seed;
    this.file = read.file;
    this.#entries = read.entries;
    this.runs = read.runs;
    this.launched = read.launched;
    this.planned = read.planned;
  }

  /** Reads the file, or begins one. @param service whose results a new one is for */
  static async open(
    files: FileSystem,
    path: string,
    key: { readonly seed: Uint8Array; readonly fingerprint: string },
    service: string,
  ): Promise<HistoryContents> {
    const entries = new HistoryEntries(key.seed);
    const runs = new FinishedRuns();
    const launched = new LaunchedBatches();
    const planned = new PlannedRuns();
    const file = await onDisk(`use the history ${path}`, async () =>
      HistoryFile.open(
        files,
        path,
        () => historyHead(key.fingerprint, service),
        (frame) =>
          entries.take(frame) || runs.take(frame) || launched.take(frame) || planned.take(frame),
      ),
    );
    return new HistoryContents(path, key.seed, { file, entries, runs, launched, planned });
  }

  get entries(): HistoryEntries {
    return this.#entries;
  }

  /** Appends a frame; batches launch while the results of others arrive. */
  async append(frame: Frame): Promise<void> {
    await this.#turns.next(async () => this.file.append(frame));
    if (this.#entries.take(frame) || this.runs.take(frame) || this.launched.take(frame)) return;
    this.planned.take(frame);
  }

  /** Collects results of one batch, to be appended by the frame. */
  adding(
    origin: HistoryOrigin,
    outcomes: OutcomeTable,
  ): {
    /** @returns whether enough are collected to be written */
    add(hash: HashWords, outcome: number): boolean;
    send(): Promise<void>;
  } {
    const builder = new FrameBuilder();
    const keyOf = createKeyLookup(outcomes);
    return {
      add: (hash, outcome) => {
        const outcomeKey = keyOf(outcome);
        if (outcomeKey !== undefined) builder.add(hash, outcomeKey, origin);
        return builder.isFull;
      },
      send: async () => {
        if (!builder.isEmpty) await this.append(builder.take());
      },
    };
  }

  async compact(): Promise<void> {
    const superseded =
      this.#entries.superseded + this.launched.superseded + this.planned.superseded;
    if (superseded > leastSuperseded && superseded > this.#entries.size) await this.rewrite();
  }

  async rewrite(
    isKept: (place: number) => boolean = () => true,
    isKeptNote?: (hash: HashWords) => boolean,
  ): Promise<void> {
    const kept = new HistoryEntries(this.#seed);
    const entries = this.#entries;
    const builders: FrameBuilder[] = [];
    entries.forEach((hash, place) => {
      if (!isKept(place)) return;
      if (builders.at(-1)?.isFull !== false) builders.push(new FrameBuilder());
      const origin = entries.origin(entries.originAt(place));
      builders.at(-1)?.add(hash, entries.outcomeKey(entries.outcomeAt(place)), origin);
    });
    const others = [
      ...this.runs.frames(),
      ...this.launched.frames(isKeptNote),
      ...this.planned.frames(isKeptNote),
    ];
    function* frames(): Generator<Frame> {
      yield* others;
      for (const builder of builders) {
        const frame = builder.take();
        kept.take(frame);
        yield frame;
      }
    }
    await onDisk(`write the history ${this.#path} again`, async () => this.file.rewrite(frames()));
    this.#entries = kept;
  }

  async close(): Promise<void> {
    await this.file.close();
  }
}
