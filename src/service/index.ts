/* `sluice/service`: the local service, an implementation of the specification over real HTTP. */

export { createService, type Service } from './create-service.js';
export type { ServiceOptions } from './service-options.js';
export type { ServiceVariants } from './variants.js';
export type { LedgerEntry } from './operations/credits.js';

// Verification by the network
export { networkEngine } from '../live/network-engine.js';
export type { NetworkEngineOptions } from '../live/network-engine.js';
export type { QueryLimits } from '../live/schedule/limits.js';
export { parseProviders, type CustomProvider } from '../live/smtp/providers.js';
export {
  parsePhoneProvider,
  type PhoneProvider,
  type PhoneFacts,
  type PhoneLookup,
} from '../live/phones/phone-lookup.js';

// An engine of one's own
export type {
  EmailVerdict,
  LiveVerification,
  PhoneVerdict,
  Verdict,
  VerificationEngine,
} from './verification/engine.js';

export { parseAccounts, type Account } from './account.js';

export { parseFaultPlan, type FaultPlan, type Fault, type FaultReport } from './faults/fault.js';

// For tests
export type { Clock } from '../platform/waiting/clock.js';
