/*
 * `sluice/service`: the local service, an implementation of the specification over real HTTP.
 */

// The service
export { createService, type Service } from './create-service.js';
export type { ServiceOptions } from './service-options.js';
export type { LedgerEntry } from './store/ledger.js';

// Accounts
export { parseAccounts, type Account } from './account.js';

// Faults
export { parseFaultPlan, type FaultPlan } from './faults/fault-plan.js';
export type { FaultReport } from './faults/fault-schedule.js';
export type { Fault } from './faults/fault.js';

// For tests
export type { Clock } from './clock.js';
export type { ServiceVariants } from './variants.js';
