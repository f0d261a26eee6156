import type { Writable } from 'node:stream';
import { printable, printableLine } from '../../platform/text/printable.js';
import type { Surroundings } from '../command.js';
import type { Said } from '../messages/run-lines.js';
import type { LiveLines } from './live-lines.js';
import { widthOf, type ProgressMode } from './progress-lines.js';
import { sayLines } from './print.js';
import { hanging } from './text-table.js';

export interface LoggerOptions {
  readonly isQuiet: boolean;
  /** One JSON object a line, for log collectors, instead of texts. @default false */
  readonly isJson?: boolean;
  /** Whether a person reads at a terminal: lines are wrapped there, and do not name the program. @default false */
  readonly isTerminal?: boolean;
  /** @default 'lines' */
  readonly mode?: ProgressMode;
  readonly clock: Surroundings['clock'];
}

/** Puts on standard error what is said: as a text or as JSON, and nothing twice in a row. */
export class Logger {
  readonly #out: Writable;
  readonly #options: LoggerOptions;
  readonly #live: LiveLines | undefined;
  #latestLine = '';
  #latestMs: number;
  #warnings = 0;

  /** @param live lines that are drawn again and again: others go above them */
  constructor(out: Writable, options: LoggerOptions, live: LiveLines | undefined) {
    this.#out = out;
    this.#options = options;
    this.#live = live;
    this.#latestMs = options.clock.now();
  }

  /** Says it unless quiet is wanted. */
  say(said: Said): void {
    const isRepeated = said.line !== '' && said.line === this.#latestLine;
    if (this.#options.isQuiet || isRepeated) return;
    this.#latestLine = said.line;
    this.#latestMs = this.#options.clock.now();
    this.write(said);
  }

  /** Says it unless something was said lately; where lines are drawn, or none are wanted, never. */
  sayNowAndThen(said: Said, everyMs: number): void {
    if ((this.#options.mode ?? 'lines') !== 'lines') return;
    if (this.#options.clock.now() - this.#latestMs >= everyMs) this.say(said);
  }

  /** Says it even when quiet is wanted. */
  write({ event, fields, line, isWarning = false }: Said): void {
    if (isWarning) this.#warnings += 1;
    const text = isWarning ? `warning: ${line}` : line;
    if (this.#options.isJson === true) {
      const time = new Date(this.#options.clock.wallNow()).toISOString();
      const level = isWarning ? { level: 'warning' } : {};
      this.#put(JSON.stringify({ time, event, ...(fields ?? { message: line }), ...level }));
    } else if (this.#options.isTerminal === true) {
      const { columns } = this.#out as Partial<NodeJS.WriteStream>;
      this.#put(hanging(printableLine(text), widthOf(columns)));
    } else this.#put(printableLine(`sluice: ${text}`));
  }

  /** How many warnings were said. */
  get warnings(): number {
    return this.#warnings;
  }

  #put(text: string): void {
    if (this.#live) this.#live.above(`${printable(text)}\n`);
    else sayLines(`${text}\n`, this.#out);
  }
}
