/** What of a terminal is needed to draw on it. */
export interface Terminal {
  write(text: string): unknown;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/** A run that is over at once shows no lines that only flicker. */
const firstAfterMs = 300;
const everyMs = 100;

/** Lines at the lower end of a terminal that are drawn again and again, while others pass above them. */
export class LiveLines {
  readonly #terminal: Terminal;
  readonly #lines: () => readonly string[];
  #drawn = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param lines gives them as they are now, none wider than the terminal */
  constructor(terminal: Terminal, lines: () => readonly string[]) {
    this.#terminal = terminal;
    this.#lines = lines;
  }

  /** Begins to draw; may be called again. */
  start(): void {
    this.#timer ??= setTimeout(() => {
      this.draw();
      this.#timer = setInterval(() => this.draw(), everyMs);
      // Lines alone keep no process alive.
      this.#timer.unref();
    }, firstAfterMs).unref();
  }

  /** Draws them as they are now, in place of those that are there. */
  draw(): void {
    // More than fit would scroll away what they are drawn over; one that does not know its height says 0.
    const most = Math.max(1, (this.#terminal.rows || 24) - 1);
    const lines = this.#lines().slice(-most);
    this.#terminal.write(`${this.#eraser()}${lines.map((line) => `${line}\n`).join('')}`);
    this.#drawn = lines.length;
  }

  /** Writes a line that stays, above those that are drawn. */
  above(text: string): void {
    const isShown = this.#drawn > 0;
    this.#terminal.write(`${this.#eraser()}${text}`);
    this.#drawn = 0;
    if (isShown) this.draw();
  }

  /** Takes the lines away, for good. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#drawn === 0) return;
    this.#terminal.write(this.#eraser());
    this.#drawn = 0;
  }

  /** Back to the first of the lines, and all below it cleared. */
  #eraser(): string {
    return this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A\r\u001b[J`;
  }
}
