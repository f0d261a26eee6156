import { expect } from 'vitest';
import { driveBatch } from '../../../src/engine/driver/batch-driver.js';
import type { DrivePorts } from '../../../src/engine/driver/batch-requests.js';
import { planned, type BatchState } from '../../../src/engine/batches/batch-state.js';
import type { OperationName } from '../../../src/contract/operations.js';
import { Driving, makeBatch } from './driving.js';
import { FakeService, type FakeServiceOptions, type Fault } from './fake-service.js';

interface Driven {
  readonly service: FakeService;
  readonly driving: Driving;
  readonly state: BatchState;
}

/** Brings one batch to its end. */
export async function drive(
  given: FakeServiceOptions | FakeService = {},
  changes: Partial<DrivePorts> = {},
  state: BatchState = planned,
): Promise<Driven> {
  const service = given instanceof FakeService ? given : new FakeService(given);
  const driving = new Driving(service, changes);
  const driven = driving.clock.runUntil(driveBatch(makeBatch(), state, driving.options));
  return { service, driving, state: await driven };
}

/** Brings one batch as far as it gets, and gives what stopped it. */
export async function failure(
  given: FakeServiceOptions | FakeService,
  changes: Partial<DrivePorts> = {},
  state: BatchState = planned,
): Promise<{ readonly error: unknown; readonly service: FakeService; readonly driving: Driving }> {
  const service = given instanceof FakeService ? given : new FakeService(given);
  const driving = new Driving(service, changes);
  const driven = driving.clock.runUntil(driveBatch(makeBatch(), state, driving.options));
  try {
    await driven;
  } catch (error) {
    return { error, service, driving };
  }
  throw new Error('it did not fail');
}

/** The ledger's word: each address of the batch was charged once. */
export function expectPaidOnce(service: FakeService): void {
  expect([...service.chargesPerAddress().values()]).toEqual([1, 1]);
  expect(service.launched()).toHaveLength(1);
}

/** A fault at the first requests of an operation. */
export function faults(operation: OperationName, fault: Fault, count = 1): FakeServiceOptions {
  return {
    faultOf: (request) =>
      request.operation === operation && request.ofItsKind < count ? fault : undefined,
  };
}
