import { expect } from 'vitest';
import type { Summary } from '../../../src/index.js';
import type { LedgerEntry, Service } from '../../../src/service/index.js';

export async function chargesOf(service: Service): Promise<readonly LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  for await (const entry of service.ledger()) entries.push(entry);
  return entries;
}

/** Holds the service's ledger against a run's summary: no address of a batch group was paid for twice. */
export async function expectChargedOnce(
  service: Service,
  summary: Pick<Summary, 'batches'>,
): Promise<readonly LedgerEntry[]> {
  const groups = new Map(
    summary.batches.map(({ batch_uuid, type, country }) => [batch_uuid, `${type} ${country}`]),
  );
  const charges = await chargesOf(service);
  const paid = charges.map(({ batch_uuid, address }) => {
    expect(
      groups.has(batch_uuid),
      `a batch that the run does not know: ${String(batch_uuid)}`,
    ).toBe(true);
    return `${String(groups.get(batch_uuid))} ${address}`;
  });
  expect(new Set(paid).size).toBe(paid.length);
  return charges;
}
