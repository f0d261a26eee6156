import type { Target } from '../smtp/open-session.js';
import { Places } from './places.js';

export interface ConversationLimits {
  /** Conversations at once. */
  readonly conversations: number;
  /** Conversations at once with one exchanger. */
  readonly conversationsPerExchanger: number;
}

/** The way through one conversation: to the greeting, and from there on. */
export interface Passage {
  /** The exchanger has greeted: waits for a place among those that are talked to. */
  greeted(): Promise<void>;
  leave(): void;
}

/** Conversations beyond the limit, for what somebody waits for. */
const urgentReserve = 8;
/** For each conversation that may be held, connections that are begun, and mute ones beside them. */
const greetingsEach = 4;
const muteEach = 12;
/** An exchanger that has not greeted by then gives its place to another. */
const patienceMs = 1000;

const all = ['all'];

/**
 * Lets conversations begin: so many with one exchanger, whatever its names and addresses, and so many in
 * all. Connecting has places of its own: those who never greet hold up nobody who talks, and after a
 * moment nobody who connects.
 */
export class Passages {
  readonly #exchangers: Places;
  readonly #greetings: Places;
  readonly #mute: Places;
  readonly #talks: Places;

  constructor({ conversations, conversationsPerExchanger }: ConversationLimits) {
    this.#exchangers = new Places({ most: conversationsPerExchanger, urgentMore: 1 });
    this.#greetings = new Places({
      most: conversations * greetingsEach,
      urgentMore: urgentReserve,
    });
    this.#mute = new Places({ most: conversations * muteEach, urgentMore: 0 });
    this.#talks = new Places({ most: conversations, urgentMore: urgentReserve });
  }

  /** @throws the signal's reason */
  async enter({ host, address }: Target, isUrgent: boolean, signal: AbortSignal): Promise<Passage> {
    const held = [await this.#exchangers.enter([host, address], isUrgent, signal)];
    const leave = (): void => {
      for (const giveBack of held.splice(0).toReversed()) giveBack();
    };
    try {
      const greeted = await this.#greetings.enter(all, isUrgent, signal);
      held.push(greeted);
      const timer = setTimeout(() => {
        const mute = this.#mute.tryEnter(all, isUrgent);
        if (mute === undefined) return;
        held.push(mute);
        greeted();
      }, patienceMs);
      held.push(() => clearTimeout(timer));
      return {
        greeted: async () => {
          clearTimeout(timer);
          held.push(await this.#talks.enter(all, isUrgent, signal));
          greeted();
        },
        leave,
      };
    } catch (error) {
      leave();
      throw error;
    }
  }
}
