import type { Writable } from 'node:stream';
import { printableLine } from '../../platform/text/printable.js';
import type { Surroundings } from '../command.js';
import type { Said } from '../messages/run-lines.js';
import type { LiveLines } from '../progress/live-lines.js';
import type { ProgressMode } from '../progress/progress-mode.js';
import { say } from './print.js';

export interface LoggerOptions {
  readonly isQuiet: boolean;
  /** One JSON object a line, for log collectors, instead of texts. @default false */
  readonly isJson?: boolean;
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
  write({ event, fields, line }: Said): void {
    const text =
      this.#options.isJson === true
        ? JSON.stringify({
            time: new Date(this.#options.clock.wallNow()).toISOString(),
            event,
            ...(fields ?? { message: line }),
          })
        : `sluice: ${line}`;
    if (this.#live) this.#live.above(`${printableLine(text)}\n`);
    else say(text, this.#out);
  }
}
