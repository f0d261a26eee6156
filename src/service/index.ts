/*
 * `sluice/service`: the local service, an implementation of the specification over real HTTP.
 */

// The service
export { createService, type Service } from './create-service.js';
export type { ServiceOptions } from './service-options.js';
export type { LedgerEntry } from './store/ledger.js';

// Verification by the network
export { networkEngine } from './network/network-engine.js';
export type { NetworkEngineOptions } from './network/network-options.js';
export type { AskLimits } from './network/schedule/ask-limits.js';
export { parseProviders, type OwnProvider } from './network/smtp/provider-table.js';
export { parsePhoneProvider, type PhoneProvider } from './network/phones/http-lookup.js';
export type { PhoneFacts, PhoneLookup } from './network/phones/phone-lookup.js';

// An engine of one's own
export type {
  EmailVerdict,
  LiveVerification,
  PhoneVerdict,
  Verdict,
  VerificationEngine,
} from './engine/engine.js';

// Accounts
export { parseAccounts, type Account } from './account.js';

// Faults
export { parseFaultPlan, type FaultPlan } from './faults/fault-plan.js';
export type { FaultReport } from './faults/fault-schedule.js';
export type { Fault } from './faults/fault.js';

// For tests
export type { Clock } from '../system/clock.js';
export type { ServiceVariants } from './variants.js';
