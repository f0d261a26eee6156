import { Alarm } from '../../platform/waiting/alarm.js';
import type { Clock } from '../../platform/waiting/clock.js';
import type { Patience } from './patience.js';

/** What keeps the requests of a client waiting. */
export type ServiceTrouble =
  | {
      readonly state: 'waiting';
      /** The latest failure; absent while the service is only silent. */
      readonly error: Error | undefined;
      /** How long nothing has been heard of it that helps, in milliseconds. */
      readonly forMs: number;
      /** How long it is tried again before requests are given up; absent while it is only silent. */
      readonly leftMs: number | undefined;
    }
  /** It answers again. */
  | { readonly state: 'over'; readonly forMs: number };

/** What keeps requests waiting is told after this time, and again after each of these. */
const firstMs = 4000;
const againMs = 60_000;

/**
 * Tells what keeps requests waiting: no answer, failures, a pause that the service asks for. Time counts
 * from the latest answer that helped, as long as something is asked for.
 */
export class TroubleWatch {
  readonly #clock: Clock;
  readonly #patience: Pick<Patience, 'failing'>;
  readonly #tell: (trouble: ServiceTrouble) => void;
  readonly #isAsked: () => boolean;
  /** Requests that wait for their turn or for an answer. */
  #asking = 0;
  #since = 0;
  /** How often the trouble was told. */
  #told = 0;
  readonly #alarm: Alarm;

  /** @param ports.isAsked whether the service has a request to answer: requests also wait for a rate */
  constructor(
    clock: Clock,
    patience: Pick<Patience, 'failing'>,
    ports: { readonly tell: (trouble: ServiceTrouble) => void; readonly isAsked: () => boolean },
  ) {
    this.#clock = clock;
    this.#patience = patience;
    this.#tell = ports.tell;
    this.#isAsked = ports.isAsked;
    this.#alarm = new Alarm(clock, () => {
      this.#look();
      this.#watch();
    });
  }

  /** A request asks for its turn. */
  begin(): void {
    // Between two attempts of the only request nothing asks, and the trouble is the same.
    if (this.#asking === 0 && !this.#patience.failing) this.#since = this.#clock.now();
    this.#asking += 1;
    this.#watch();
  }

  /** A request waits no more, whatever came of it. */
  end(): void {
    this.#asking -= 1;
    if (this.#asking === 0) this.#alarm.stop();
  }

  /** Something moves: a service that takes an upload piece by piece is not silent. */
  moved(): void {
    if (!this.#patience.failing && this.#told === 0) this.#since = this.#clock.now();
  }

  /** The service has answered, or what it failed at is too long ago to matter. */
  answered(): void {
    const forMs = this.#clock.now() - this.#since;
    const wasTold = this.#told > 0;
    this.#since = this.#clock.now();
    this.#told = 0;
    if (wasTold) this.#say({ state: 'over', forMs });
  }

  #watch(): void {
    if (this.#asking === 0 || this.#alarm.at !== Number.POSITIVE_INFINITY) return;
    this.#alarm.set(this.#since + firstMs + this.#told * againMs);
  }

  #look(): void {
    const now = this.#clock.now();
    const forMs = now - this.#since;
    // A clock of fractions may wake a hair too early: it would be woken for the same hair for ever.
    if (forMs + 1 < firstMs + this.#told * againMs) return;
    const { failing } = this.#patience;
    if (!failing && !this.#isAsked()) {
      this.#since = now;
      return;
    }
    this.#told += 1;
    const leftMs = failing && Math.max(0, failing.giveUpAt - now);
    this.#say({ state: 'waiting', error: failing?.error, forMs, leftMs });
  }

  #say(trouble: ServiceTrouble): void {
    try {
      this.#tell(trouble);
    } catch {
      // A launch that was paid for is not lost to an observer's defect.
    }
  }
}
