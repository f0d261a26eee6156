import type { VerificationType } from '../../contract/enums.js';
import type { RowChunk } from '../../lists/rows/chunks/row-chunk.js';
import type { Batch } from '../batches/batch.js';
import { settledOutcome } from '../plan/address-book.js';
import type { Plan } from '../plan/plan.js';
import { columnHints } from '../summary/build-summary.js';
import { MisspeltDomains } from '../summary/outcome-tally.js';
import { RejectedCells } from '../summary/rejected-cells.js';
import type { GroupEstimate, TypeEstimate } from '../summary/summary.js';
import { type LeftToSend, needOf, type SizedBatch } from './credits.js';

/** The figures of a list of which nothing is sent. */
export class EstimatedList {
  readonly plan: Plan;
  readonly batches: Batch[] = [];
  rows = 0;
  /** By type and reason: cells that cannot be sent. */
  readonly #notSubmitted = { email: new Map<string, number>(), phone: new Map<string, number>() };
  readonly #empty: number[];
  readonly #refused: RejectedCells;
  readonly #misspelt: MisspeltDomains;
  /** For anything but an email address, the service usually has no record. */
  readonly #unsettled: number;

  constructor(plan: Plan) {
    this.plan = plan;
    this.#empty = plan.layout.columns.map(() => 0);
    this.#refused = new RejectedCells(plan);
    this.#misspelt = new MisspeltDomains(plan);
    this.#unsettled = plan.outcomes.idOf('no_result', 'no_record');
  }

  add(chunk: RowChunk): void {
    const tickets = this.plan.planner.plan(chunk, 0);
    this.#count(tickets);
    const outcomes = tickets.map((ticket) => settledOutcome(ticket) ?? this.#unsettled);
    this.#refused.add(outcomes, { chunk, from: 0 });
    this.#misspelt.add({ chunk, from: 0 }, chunk.length);
    this.#takeBatches();
    this.rows += chunk.length;
  }

  #count(tickets: Uint32Array): void {
    const { columns } = this.plan.layout;
    for (const [index, ticket] of tickets.entries()) {
      const outcome = settledOutcome(ticket);
      const column = index % columns.length;
      const type = columns[column]?.type;
      if (outcome === undefined || type === undefined) continue;
      const { reason } = this.plan.outcomes.get(outcome);
      if (reason === 'empty') this.#empty[column] = (this.#empty[column] ?? 0) + 1;
      const counts = this.#notSubmitted[type];
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
    }
  }

  #takeBatches(): void {
    for (const batch of this.plan.cutter.take()) this.batches.push(batch);
  }

  end(): void {
    this.plan.cutter.closeAll();
    this.#takeBatches();
  }

  /** @param left what a run would send of it */
  figures(left: LeftToSend) {
    const figures = { plan: this.plan, refused: this.#refused, misspelt: this.#misspelt };
    const countries = this.#refused.countries();
    return {
      email: this.#ofType('email', left),
      phone: this.#ofType('phone', left),
      columns: this.plan.layout.columns.map(({ name, type }, column) => ({
        name,
        type,
        empty: this.#empty[column] ?? 0,
        ...columnHints(column, figures),
      })),
      ...(countries && { countries }),
    };
  }

  /** @returns `null` where no column of the type is verified */
  #ofType(type: VerificationType, left: LeftToSend): TypeEstimate | null {
    if (!this.plan.layout.columns.some((column) => column.type === type)) return null;
    const { submittable, addresses, recalled } = this.plan.planner.counts[type];
    return {
      addresses,
      from_history: recalled,
      duplicates: submittable - addresses,
      not_submitted: Object.fromEntries(this.#notSubmitted[type]),
      groups: groupsOf(left.batches.filter(({ group }) => group.type === type)),
      credits: needOf(left.batches, type).needed,
    };
  }
}

function groupsOf(batches: readonly SizedBatch[]): readonly GroupEstimate[] {
  const groups = new Map<string, GroupEstimate>();
  for (const { group, addresses } of batches) {
    const { country } = group;
    const before = groups.get(country) ?? { country, addresses: 0, batches: 0 };
    groups.set(country, {
      country,
      addresses: before.addresses + addresses,
      batches: before.batches + 1,
    });
  }
  return [...groups.values()];
}
